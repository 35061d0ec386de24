#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"
#include "text/letters.hpp"

namespace sharelearn {
namespace fs = std::filesystem;
namespace {

constexpr Index kLargestDocument = Index{1} << 32;

bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::vector<std::string> distinct_words(std::string_view text, const WordOptions& options) {
  std::vector<std::string> words;
  std::unordered_set<std::string> seen;
  for_each_word(text, options, [&](std::string_view word) {
    if (seen.emplace(word).second) words.emplace_back(word);
  });
  return words;
}

/// The Maildir++ folder ".Work.Projects" is the class Work/Projects; cur and new are not folders of their
/// own.
std::string class_of_folder(const fs::path& below) {
  std::string name;
  for (const fs::path& part : below) {
    std::string text = part.string();
    if (text == "." || text.empty() || text == "cur" || text == "new") continue;
    if (text.front() == '.' && text.size() > 1) {
      text.erase(0, 1);
      std::replace(text.begin(), text.end(), '.', '/');
    }
    name += (name.empty() ? "" : "/") + text;
  }
  if (name.empty()) name = "inbox";
  for (char& c : name) {
    if (c == ' ' || c == '\t' || c == ',' || c == ':' || c == '#') c = '_';
  }
  return name;
}

Document make_document(const std::string& path, std::string folder, std::string_view raw,
                       const WordOptions& options) {
  Document document;
  document.path = path;
  document.folder = std::move(folder);
  if (looks_like_mail(raw)) {
    const Mail mail = parse_mail(raw, options);
    document.date = mail.date;
    document.has_date = mail.has_date;
    document.words = distinct_words(mail.text, options);
  } else {
    document.words = distinct_words(raw, options);
  }
  return document;
}

void add_file(const fs::path& file, const fs::path& root, const WordOptions& options,
              std::vector<Document>& out) {
  if (fs::file_size(file) == 0) return;  // for example the marker file of a Maildir++ folder
  const std::vector<char> bytes = read_bytes(file.string(), kLargestDocument);
  const std::string_view raw(bytes.data(), bytes.size());
  const fs::path below = file.lexically_relative(root);
  const bool mbox = file.extension() == ".mbox" || looks_like_mbox(raw);
  if (!mbox) {
    out.push_back(make_document(file.string(), class_of_folder(below.parent_path()), raw, options));
    return;
  }
  const std::string folder = class_of_folder(below.parent_path() / file.stem());
  for (const std::string& message : split_mbox(raw)) {
    out.push_back(make_document(file.string(), folder, message, options));
  }
}

/// The files in a folder and below it. In a maildir only cur and new hold documents; other files belong to
/// the mail server.
void add_files(const fs::path& folder, bool in_maildir, std::vector<fs::path>& files) {
  in_maildir = in_maildir || (fs::is_directory(folder / "cur") && fs::is_directory(folder / "new"));
  const fs::path name = folder.filename();
  const bool has_documents = name != "tmp" && (!in_maildir || name == "cur" || name == "new");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) {
      if (!entry.is_symlink()) add_files(entry.path(), in_maildir, files);
    } else if (has_documents && entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
}

}  // namespace

void for_each_word(std::string_view text, const WordOptions& options,
                   const std::function<void(std::string_view)>& take) {
  std::string word;
  std::size_t letters = 0;
  const auto finish = [&] {
    if (letters > 0 && letters >= options.shortest && letters <= options.longest) take(word);
    word.clear();
    letters = 0;
  };
  const auto add = [&](const auto& letter) {
    if (++letters <= options.longest) word += letter;
  };
  while (!text.empty()) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) >= 0x80) {
      const text::Character character = text::take_character(text);
      character.letter ? add(character.lower) : finish();
      continue;
    }
    text.remove_prefix(1);
    if (is_ascii_letter(c)) {
      add(static_cast<char>(c | 0x20));
    } else if (options.digits && c >= '0' && c <= '9') {
      add(c);
    } else {
      finish();
    }
  }
  finish();
}

std::vector<Document> collect_documents(const std::string& root, const WordOptions& options) {
  if (!fs::exists(root)) throw InputError(fmt::format("{}: there is no such file or folder", root));
  std::vector<fs::path> files;
  if (fs::is_directory(root)) {
    add_files(root, false, files);
  } else {
    files.emplace_back(root);
  }
  std::sort(files.begin(), files.end());
  const fs::path base = fs::is_directory(root) ? fs::path(root) : fs::path(root).parent_path();
  std::vector<Document> documents;
  for (const fs::path& file : files) add_file(file, base, options, documents);
  if (documents.empty()) throw InputError(fmt::format("{}: holds no documents", root));
  std::stable_sort(documents.begin(), documents.end(), [](const Document& a, const Document& b) {
    return a.has_date != b.has_date ? a.has_date : a.has_date && a.date < b.date;
  });
  return documents;
}

}  // namespace sharelearn
