// sharelearn words: text, e-mail, mbox files and maildirs to rows of words, for `fit sharing`.
#include "text/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "command.hpp"
#include "help.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

/// Words by number, as a text file of one word per line keeps them.
class Vocabulary {
 public:
  void load(const std::string& path) {
    const std::vector<char> bytes = read_bytes(path, Index{1} << 32);
    std::string word;
    for (const char c : bytes) {
      if (c != '\n') {
        word += c;
        continue;
      }
      number(word);
      word.clear();
    }
    if (!word.empty()) number(word);
  }
  /// From 1, as svmlight counts.
  Index number(const std::string& word) {
    const auto [at, fresh] = number_.try_emplace(word, static_cast<Index>(words_.size()) + 1);
    if (fresh) words_.push_back(word);
    return at->second;
  }
  std::string text() const {
    std::string all;
    for (const std::string& word : words_) all.append(word).append("\n");
    return all;
  }

 private:
  std::unordered_map<std::string, Index> number_;
  std::vector<std::string> words_;
};

class WordsCommand : public Command {
 public:
  std::string_view name() const override { return "words"; }
  std::string_view summary() const override {
    return "Turn text or e-mail (files, mbox, maildir) into rows of words for fit; the folder is the class";
  }
  void declare(CLI::App& app) override {
    app.add_option("ROOT", roots_, "Folders, maildirs, mbox files or single files")->required();
    app.add_option("-o,--output", output_,
                   "Write the rows, ordered by date, to this file; - is standard output")
        ->type_name(kFile)
        ->capture_default_str();
    app.add_option("--vocabulary", vocabulary_,
                   "File of words, one per line: line n is column n. New words are added to it")
        ->type_name(kFile);
    app.add_flag("--names", names_,
                 "Write the words themselves instead of numbers (for fit sharing --names)");
    app.add_option("--headers", options_.headers, "Header fields of e-mail whose words count")
        ->type_name("TEXT,..")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->default_str("subject,from,to");
    app.add_option("--shortest", options_.shortest, "Number of letters of the shortest word")
        ->check(non_negative())
        ->capture_default_str();
    app.add_option("--longest", options_.longest, "Number of letters of the longest word")
        ->check(positive())
        ->capture_default_str();
    app.add_flag("--digits,!--no-digits", options_.digits, "Words may contain digits")->default_str("on");
    app.add_option("--least", least_, "Leave out folders with fewer documents than this")
        ->capture_default_str();
    app.add_option("--omit", omit_, "Folders to leave out with all that is below them, as in inbox,sent")
        ->type_name("TEXT,..")
        ->delimiter(',')
        ->allow_extra_args(false);
  }
  int run() override;

 private:
  void check() const;
  std::vector<Document> documents() const;
  bool omitted(const std::string& folder) const;
  std::string row(const Document& document, Vocabulary& vocabulary) const;

  std::vector<std::string> roots_, omit_;
  std::string output_ = "-", vocabulary_;
  bool names_ = false;
  Index least_ = 1;
  WordOptions options_;
};

bool WordsCommand::omitted(const std::string& folder) const {
  for (const std::string& name : omit_) {
    if (folder == name || folder.starts_with(name + "/")) return true;
  }
  return false;
}

std::vector<Document> WordsCommand::documents() const {
  std::vector<Document> all;
  for (const std::string& root : roots_) {
    for (Document& document : collect_documents(root, options_)) all.push_back(std::move(document));
  }
  if (roots_.size() > 1) {
    std::stable_sort(all.begin(), all.end(), [](const Document& a, const Document& b) {
      return a.has_date != b.has_date ? a.has_date : a.has_date && a.date < b.date;
    });
  }
  std::unordered_map<std::string, Index> count;
  for (const Document& document : all) ++count[document.folder];
  std::erase_if(all, [&](const Document& d) { return count[d.folder] < least_ || omitted(d.folder); });
  return all;
}

std::string WordsCommand::row(const Document& document, Vocabulary& vocabulary) const {
  std::string line = document.folder;
  if (names_) {
    for (const std::string& word : document.words) line.append(" ").append(word);
    return line + '\n';
  }
  std::vector<Index> numbers;
  for (const std::string& word : document.words) numbers.push_back(vocabulary.number(word));
  std::sort(numbers.begin(), numbers.end());
  for (const Index number : numbers) line += fmt::format(" {}:1", number);
  return line + '\n';
}

void WordsCommand::check() const {
  if (options_.shortest > options_.longest) {
    throw InputError(fmt::format("--shortest {} is above --longest {}: no word would be left",
                                 options_.shortest, options_.longest));
  }
  if (names_ && !vocabulary_.empty())
    throw InputError(
        "--vocabulary cannot be combined with --names, which writes the words themselves and not their "
        "numbers");
  std::vector<NamedPath> inputs;
  for (const std::string& root : roots_) inputs.push_back({"ROOT", root});
  check_paths({{"-o", output_}, {"--vocabulary", vocabulary_}}, inputs);
  if (std::filesystem::exists(vocabulary_) && !std::filesystem::is_regular_file(vocabulary_)) {
    throw InputError(fmt::format(
        "--vocabulary {}: is not a regular file that could be read and then extended", vocabulary_));
  }
}

int WordsCommand::run() {
  check();
  Vocabulary vocabulary;
  if (!vocabulary_.empty() && std::filesystem::exists(vocabulary_)) vocabulary.load(vocabulary_);
  const std::vector<Document> found = documents();
  if (found.empty()) throw InputError("no documents are left; check --least and --omit");
  std::string rows;
  std::unordered_map<std::string, Index> folders;
  Index undated = 0;
  for (const Document& document : found) {
    rows += row(document, vocabulary);
    ++folders[document.folder];
    undated += document.has_date ? 0 : 1;
  }
  // The vocabulary first: the rows cannot be understood without it.
  if (!vocabulary_.empty()) write_file(vocabulary_, vocabulary.text());
  write_file(output_, rows);
  say(fmt::format("{} documents, {} folders, {} without a date", found.size(), folders.size(), undated));
  return 0;
}

}  // namespace

std::unique_ptr<Command> words_command() {
  return std::make_unique<WordsCommand>();
}

}  // namespace sharelearn::cli
