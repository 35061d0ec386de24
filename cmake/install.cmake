# find_package(sharelearn CONFIG) after `cmake --install`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS sharelearn EXPORT sharelearn-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sharelearn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sharelearn)
install(EXPORT sharelearn-targets NAMESPACE sharelearn:: DESTINATION ${config_dir})
configure_package_config_file(cmake/sharelearn-config.cmake.in sharelearn-config.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(sharelearn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sharelearn-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/sharelearn-config-version.cmake
              cmake/FindxxHash.cmake DESTINATION ${config_dir})
if(SHARELEARN_BUILD_CLI)
  install(TARGETS sharelearn-cli DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(SHARELEARN_BUILD_EXPERIMENTS)
  install(TARGETS sharelearn-reproduce DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
