// Mails, mbox files, dates and words.
#include "fuzz.hpp"
#include "text/words.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sharelearn;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzz::expect_errors_only([&] {
    const WordOptions options{.headers = {"subject", "from", "to", "x"}};
    const auto words_of = [&](std::string_view text) {
      for_each_word(text, options, [](std::string_view word) {
        if (word.empty()) std::abort();
      });
    };
    (void)looks_like_mail(input);
    (void)looks_like_mbox(input);
    words_of(input);
    words_of(parse_mail(input, options).text);
    for (const std::string& mail : split_mbox(input)) words_of(parse_mail(mail, options).text);
    std::int64_t seconds = 0;
    (void)parse_date(input.substr(0, input.find('\n')), seconds);
  });
  return 0;
}
