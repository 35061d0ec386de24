// Small files beside the data: class sets, competing hypotheses, output trees, options as text. The first
// byte chooses the file.
#include "fuzz.hpp"
#include "learn/output_tree.hpp"
#include "sharelearn/analysis/sharing_bound.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/fit/cascade.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/fit/sharing.hpp"
#include "sharelearn/fit/structural.hpp"

namespace {

using namespace sharelearn;

/// Lines `name=value` set fields by name, as the command line does.
template <class Options>
void set_options(std::string_view text) {
  Options options;
  FieldTable table = fields(options);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const Field* field = table.find(line.substr(0, equals));
    if (field == nullptr) continue;
    fuzz::expect_errors_only([&] { field->set_text(std::string(line.substr(equals + 1))); });
  }
  table.check();
}

void read_sets(std::string_view text) {
  ClassSets sets = ClassSets::parse(text, "sets");
  for (const char* name : {"a", "b", "c", "1"}) sets.add_class(name);
  ByteWriter out;
  sets.write(out);
  ByteReader in(out.bytes(), "sets");
  if (!ClassSets::read(in).same_rule(sets)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const unsigned choice = fuzz::take_choice(input);
  fuzz::expect_errors_only([&] {
    switch (choice % 7) {
      case 0:
        return read_sets(input);
      case 1:
        return (void)parse_competitor(input, "competitor").squared_norm(Kernel{});
      case 2:
        return (void)parse_output_tree(std::string(input), {"a", "b", "c", "d"});
      case 3:
        return (void)canonical_label(input);
      case 4:
        return set_options<ShareBoostFit>(input);
      case 5:
        return set_options<GradBoostFit>(input);
      default:
        return set_options<CascadeFit>(input);
    }
  });
  return 0;
}
