// sharelearn cache DATA -o FILE.shd: data as a binary file that is mapped, not read.
#include "sharelearn/data/cache.hpp"

#include <fmt/core.h>

#include "command.hpp"
#include "help.hpp"

namespace sharelearn::cli {
namespace {

class CacheCommand : public Command {
 public:
  std::string_view name() const override { return "cache"; }
  std::string_view summary() const override {
    return "Write data as a binary file from which the other commands stream it";
  }
  void declare(CLI::App& app) override {
    app.add_option("DATA", input_, "Data to write, with labels; - is standard input")->required();
    app.add_option("-o,--output", output_, "Write the binary file here, such as data.shd")
        ->type_name(kFile)
        ->required();
    reading_.declare(app, false);
    app.add_flag("--quiet", quiet_, "Print nothing");
    app.footer(
        "Every command takes the file in place of the data. It is checked when it is opened, then mapped: "
        "its\n"
        "values are in the system's page cache, and training needs memory only for what it computes.\n");
  }
  int run() override {
    check_paths({{"-o", output_}}, {{"DATA", input_}, {"--labels", reading_.read.labels_file}});
    ThreadPool threads(reading_.threads);
    const CacheSize size = write_cache(input_, output_, reading_.resolved(), threads);
    if (quiet_) return 0;
    fmt::print("{} rows, {} columns, {} {} values, {:.3f} GB\n", size.rows, size.columns, size.entries,
               size.sparse ? "stored" : "dense", static_cast<double>(size.bytes) / 1e9);
    return 0;
  }

 private:
  std::string input_, output_;
  DataOptions reading_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> cache_command() {
  return std::make_unique<CacheCommand>();
}

}  // namespace sharelearn::cli
