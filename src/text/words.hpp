// Text and e-mail as binary bags of words ([Fink06], section 5): files, mbox files and maildirs, in order of
// date, the folder as class.
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
  std::size_t longest = 40;  ///< longer ones as well: mostly encoded data
  bool digits = true;        ///< words may hold digits
  /// Header fields whose words count.
  std::vector<std::string> headers = {"subject", "from", "to"};
};

/// Calls `take` with each word of a UTF-8 text: runs of letters and digits, in lower case where they are
/// Latin, Greek or Cyrillic. Beyond ASCII all characters but signs and punctuation count as letters, and so
/// do bytes that are no UTF-8.
void for_each_word(std::string_view text, const WordOptions& options,
                   const std::function<void(std::string_view)>& take);

/// A mail taken apart: what it says and when.
struct Mail {
  std::int64_t date = 0;  ///< seconds since 1970; 0: none
  bool has_date = false;
  std::string text;  ///< the chosen headers and all text parts, decoded
};

/// RFC 5322 with MIME: multipart, base64, quoted-printable, encoded words in headers; HTML loses its tags.
/// Whatever is malformed is taken as plain text.
Mail parse_mail(std::string_view raw, const WordOptions& options);

/// True if text begins with header fields as a mail does.
bool looks_like_mail(std::string_view raw);

/// True if text begins with a line "From ..." and a mail.
bool looks_like_mbox(std::string_view raw);

/// "Mon, 15 Nov 2004 10:30:00 -0800 (PST)" in seconds since 1970; false if it is no date.
bool parse_date(std::string_view text, std::int64_t& seconds);

/// Messages of an mbox file: lines "From " begin one, ">From " is "From " quoted.
std::vector<std::string> split_mbox(std::string_view raw);

/// One document found: where, its class, its date.
struct Document {
  std::string path;
  std::string folder;  ///< class: the path of its folder below the root, '/' between, blanks as '_'
  std::int64_t date = 0;
  bool has_date = false;
  std::vector<std::string> words;  ///< distinct, in order of first appearance
};

/// All documents below `root`: a maildir (cur and new only; Maildir++ folders ".Work.Projects" are
/// "Work/Projects"), a tree of folders of files, mbox files (class = name without ".mbox"), or one file.
/// Empty files are passed over. Dated ones are in order of date, undated ones behind, by path. Throws
/// InputError if there is none.
std::vector<Document> collect_documents(const std::string& root, const WordOptions& options);

}  // namespace sharelearn
