// Text and e-mail as binary bags of words ([Fink06], section 5). Input: files, mbox files and maildirs, in
// order of date. The class is the folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

struct WordOptions {
  std::size_t shortest = 2;  ///< letters; shorter words are left out
  std::size_t longest = 40;  ///< longer words are left out too: they are mostly encoded data
  bool digits = true;        ///< words may contain digits
  /// Header fields whose words are used.
  std::vector<std::string> headers = {"subject", "from", "to"};
};

/// Calls `take` with each word of a UTF-8 text. A word is a run of letters and digits; Latin, Greek and
/// Cyrillic letters become lower case. Beyond ASCII all characters except signs and punctuation count as
/// letters, and so do bytes that are not valid UTF-8.
void for_each_word(std::string_view text, const WordOptions& options,
                   const std::function<void(std::string_view)>& take);

/// A parsed mail: its date and its text.
struct Mail {
  std::int64_t date = 0;  ///< seconds since 1970; 0: none
  bool has_date = false;
  std::string text;  ///< the chosen headers and all text parts, decoded
};

/// RFC 5322 with MIME: multipart, base64, quoted-printable, encoded words in headers; HTML loses its tags.
/// Malformed parts are taken as plain text.
Mail parse_mail(std::string_view raw, const WordOptions& options);

/// True if the text begins with header fields, as a mail does.
bool looks_like_mail(std::string_view raw);

/// True if the text begins with a line "From ..." and then a mail.
bool looks_like_mbox(std::string_view raw);

/// A date such as "Mon, 15 Nov 2004 10:30:00 -0800 (PST)" in seconds since 1970; false if the text is not a
/// date.
bool parse_date(std::string_view text, std::int64_t& seconds);

/// Messages of an mbox file: a line that begins with "From " starts a message; ">From " is a quoted "From ".
std::vector<std::string> split_mbox(std::string_view raw);

/// A document: its path, class and date.
struct Document {
  std::string path;
  /// Class: path of its folder below the root, with '/' between names and '_' for blanks.
  std::string folder;
  std::int64_t date = 0;
  bool has_date = false;
  std::vector<std::string> words;  ///< distinct, in order of first appearance
};

/// All documents below `root`: a maildir (cur and new only; the Maildir++ folder ".Work.Projects" is
/// "Work/Projects"), a tree of folders with files, mbox files (class = name without ".mbox"), or one file.
/// Empty files are skipped. Documents with a date come first, in order of date; the others follow, by path.
/// Throws InputError if there are no documents.
std::vector<Document> collect_documents(const std::string& root, const WordOptions& options);

}  // namespace sharelearn
