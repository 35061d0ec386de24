# Writes a C++ source that holds the bytes of a file: cmake -DINPUT=... -DOUTPUT=... -P embed.cmake
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"report/page_html.hpp\"

namespace sharelearn {

std::string_view page_html() {
  static constexpr char kBytes[] = {${bytes}};
  return {kBytes, sizeof kBytes};
}

}  // namespace sharelearn
")
