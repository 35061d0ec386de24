// A whole model file, exported to every target and arithmetic.
#include "sharelearn/export/export.hpp"

#include <utility>

#include "use_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sharelearn;
  std::string file(reinterpret_cast<const char*>(data), size);
  file.resize(size - std::min(size, sizeof(std::uint64_t)));
  ModelPtr model;
  fuzz::expect_errors_only(
      [&] { model = model_from_bytes(fuzz::with_checksum(std::move(file)), "the model"); });
  if (model == nullptr) return 0;
  constexpr Index kMostColumns = 2000;
  const Dataset rows = fuzz::dense_rows(std::clamp<Index>(model->columns(), 3, kMostColumns));
  for (const auto arithmetic : {Arithmetic::single_precision, Arithmetic::int16, Arithmetic::int8}) {
    std::optional<TestVector> vector;
    fuzz::expect_errors_only([&] { vector = test_vector(*model, rows, 4, fuzz::threads(), arithmetic); });
    for (const auto target :
         {ExportTarget::c, ExportTarget::javascript, ExportTarget::python, ExportTarget::onnx}) {
      if (target != ExportTarget::c && arithmetic != Arithmetic::single_precision) continue;
      const char* path = target == ExportTarget::c        ? "m.h"
                         : target == ExportTarget::python ? "m.py"
                         : target == ExportTarget::onnx   ? "m.onnx"
                                                          : "m.mjs";
      fuzz::expect_errors_only([&] { (void)export_model(*model, target, path, nullptr, arithmetic); });
      if (!vector) continue;
      fuzz::expect_errors_only([&] { (void)export_model(*model, target, path, &*vector, arithmetic); });
    }
  }
  return 0;
}
