// The readers of data sets: svmlight, CSV, IDX, NPY, NPZ, plain or gzip. The first byte chooses the options.
#include "fuzz.hpp"
#include "sharelearn/data/read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sharelearn;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const unsigned choice = fuzz::take_choice(input);
  const fuzz::MemoryFile file(input);
  ReadOptions options;
  options.format = static_cast<Format>(choice % 5);
  options.missing = static_cast<Missing>(choice / 5 % 4);
  options.labels_required = choice / 20 % 2 == 0;
  if (choice / 40 % 2 == 1) options.label_column = "none";
  if (choice / 80 % 2 == 1) {
    options.weight_column = "1";
    options.task_column = "2";
    options.ignore_columns = {"0"};
  }
  if (choice / 160 == 1) options.labels_file = file.path();
  options.max_bytes = Index{64} << 20;
  fuzz::expect_errors_only([&] {
    const Dataset read = read_dataset(file.path(), options, fuzz::threads());
    fuzz::expect_errors_only([&] { (void)classes_of(read); });
    fuzz::expect_errors_only([&] { (void)tasks_of(read); });
    fuzz::expect_errors_only([&] { (void)values_of(read); });
    fuzz::expect_errors_only([&] { (void)normalised_weights(read); });
  });
  return 0;
}
