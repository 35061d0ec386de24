#include "text/words.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sharelearn {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(std::string_view text, const WordOptions& options = {}) {
  std::vector<std::string> words;
  for_each_word(text, options, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fs::path("sharelearn_words_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(Words, are_runs_of_letters_and_digits_in_lower_case) {
  EXPECT_EQ(words_of("Hello, WORLD! a x86 \xc3\xa4pfel"),
            (std::vector<std::string>{"hello", "world", "x86", "\xc3\xa4pfel"}));
  std::string long_word(100, 'z');
  EXPECT_EQ(words_of(long_word.append(" end")), std::vector<std::string>{"end"});
  WordOptions options;
  options.digits = false;
  EXPECT_EQ(words_of("x86 2004 abc", options), std::vector<std::string>{"abc"});
}

TEST(Words, beyond_ascii_are_lower_case_and_counted_by_letters) {
  EXPECT_EQ(words_of("CAFÉ Ärger ŁÓDŹ ΑΘΉΝΑ МОСКВА Ёлка VIỆT ƯỚC ȘTIRE ẞ İzmir"),
            (std::vector<std::string>{"café", "ärger", "łódź", "αθήνα", "москва", "ёлка", "việt", "ước",
                                      "știre", "izmir"}));
  EXPECT_EQ(words_of("“curly” ‘quotes’—dash… «guillemets» ¿qué? 日本語、言葉。"),
            (std::vector<std::string>{"curly", "quotes", "dash", "guillemets", "qué", "日本語", "言葉"}));
  WordOptions options;
  options.longest = 5;
  EXPECT_EQ(words_of("grüße größer", options), std::vector<std::string>{"grüße"});
  options.shortest = 5;
  EXPECT_EQ(words_of("süß grüße", options), std::vector<std::string>{"grüße"});
  // Latin-1 bytes, a truncated character and an overlong one stay as they are.
  EXPECT_EQ(words_of("gr\xFC\xDF cut\xC3 \xC0\xAF\xC0"),
            (std::vector<std::string>{"gr\xFC\xDF", "cut\xC3", "\xC0\xAF\xC0"}));
}

TEST(Words, dates_of_mails_become_seconds) {
  std::int64_t t = 0;
  ASSERT_TRUE(parse_date("Mon, 15 Nov 2004 10:30:00 -0800 (PST)", t));
  EXPECT_EQ(t, 1100543400);
  ASSERT_TRUE(parse_date("1 Jan 70 00:00 GMT", t));
  EXPECT_EQ(t, 0);
  ASSERT_TRUE(parse_date("Thu, 29 Feb 2024 23:59:59 +0000", t));
  EXPECT_EQ(t, 1709251199);
  for (const char* bad :
       {"", "yesterday", "Mon, 99 Nov 2004 10:30:00", "15 Foo 2004 10:30:00", "15 Nov 2004 xx"}) {
    EXPECT_FALSE(parse_date(bad, t)) << bad;
  }
}

TEST(Words, mails_are_decoded_part_by_part) {
  const std::string raw =
      "From: =?utf-8?Q?J=C3=B6rg_M?= <j@example.org>\r\n"
      "Subject: =?utf-8?B?QnVkZ2V0?= and\r\n plan\r\n"
      "X-Other: secretheader\r\n"
      "Date: Mon, 15 Nov 2004 10:30:00 -0800\r\n"
      "Content-Type: multipart/alternative; boundary=\"b1\"\r\n\r\n"
      "preamble\r\n--b1\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
      "caf=C3=A9 soft=\r\nbreak\r\n"
      "--b1\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGI+Ym9sZDwvYj4=\r\n"
      "--b1\r\nContent-Type: image/png\r\n\r\npixels\r\n--b1--\r\nepilogue\r\n";
  ASSERT_TRUE(looks_like_mail(raw));
  const Mail mail = parse_mail(raw, {});
  EXPECT_TRUE(mail.has_date);
  const auto words = words_of(mail.text);
  const auto has = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  for (const char* word : {"j\xc3\xb6rg", "budget", "plan", "caf\xc3\xa9", "softbreak", "bold"}) {
    EXPECT_TRUE(has(word)) << word;
  }
  for (const char* word : {"pixels", "preamble", "epilogue", "secretheader", "html"})
    EXPECT_FALSE(has(word)) << word;
}

TEST(Words, an_mbox_is_split_at_its_from_lines_only) {
  const auto messages = split_mbox(
      "From a\nSubject: one\n\nbody\n>From the start\n\nFrom b\nSubject: two\n\nx\nFrom here on\n");
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0], "Subject: one\n\nbody\nFrom the start\n\n");
  EXPECT_EQ(messages[1], "Subject: two\n\nx\nFrom here on\n");
}

TEST(Words, a_tree_of_mail_comes_in_order_of_date_with_folders_as_classes) {
  const Folder root;
  const auto mail = [](const char* day, const char* text) {
    return std::string("From: a@b\nDate: ") + day + " Nov 2004 10:00:00 +0000\n\n" + text + "\n";
  };
  root.write("maildir/.Work.New Projects/cur/1:2,S", mail("3", "gamma"));
  root.write("maildir/cur/2", mail("1", "alpha"));
  root.write("maildir/tmp/3", mail("1", "unfinished"));
  root.write("lists.mbox", "From x\n" + mail("2", "beta") + "\nFrom x\n" + mail("4", "delta"));
  root.write("notes/plain.txt", "no mail at all");
  const std::vector<Document> documents = collect_documents(root.path(), {});
  std::vector<std::string> folders, last;
  for (const Document& d : documents) {
    folders.push_back(d.folder);
    last.push_back(d.words.back());
  }
  EXPECT_EQ(folders,
            (std::vector<std::string>{"maildir", "lists", "maildir/Work/New_Projects", "lists", "notes"}));
  EXPECT_EQ(last, (std::vector<std::string>{"alpha", "beta", "gamma", "delta", "all"}));
}

TEST(Words, in_a_maildir_only_cur_and_new_hold_mail) {
  const Folder root;
  root.write("Maildir/cur/1", "From: a@b\n\nalpha\n");
  root.write("Maildir/new/2", "From: a@b\n\nbeta\n");
  root.write("Maildir/dovecot-uidlist", "3 V1 N2\n");
  root.write("Maildir/courierimapkeywords/list", "junk\n");
  root.write("Maildir/.Work/maildirfolder", "");
  root.write("Maildir/.Work/cur/3", "From: a@b\n\ngamma\n");
  root.write("notes/empty.txt", "");
  root.write("notes/list", "delta\n");
  std::vector<std::string> found;
  for (const Document& d : collect_documents(root.path(), {}))
    found.push_back(d.folder + ' ' + d.words.back());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found,
            (std::vector<std::string>{"Maildir alpha", "Maildir beta", "Maildir/Work gamma", "notes delta"}));
}

TEST(Words, a_text_that_begins_with_from_is_not_an_mbox) {
  EXPECT_FALSE(looks_like_mbox("From the desk of nobody: hello world\n"));
  EXPECT_FALSE(looks_like_mbox("From here on\n\nDate: yesterday\n"));
  EXPECT_TRUE(looks_like_mbox("From a@b Thu Nov  4 10:00:00 2004\nDate: 4 Nov 2004 10:00:00\n\nx\n"));
  const Folder root;
  root.write("a/letter.txt", "From the desk of nobody: hello\n");
  const auto documents = collect_documents(root.path(), {});
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0].folder, "a");
}

// Quadratic time would be hours here.
TEST(Words, a_long_header_of_half_encoded_words_takes_linear_time) {
  for (const std::string piece : {"=?", "=?a?q?", "=?a?q? ", "?=", "=?a?"}) {
    std::string mail = "Subject: ";
    for (int i = 0; i < 1'000'000; ++i) mail += piece;
    EXPECT_GT(parse_mail(mail + "\n\nbody\n", {}).text.size(), 4U);
  }
}

TEST(Words, junk_is_text_and_never_an_error) {
  std::string junk;
  for (int i = 0; i < 5000; ++i) junk += static_cast<char>((i * 7919) % 256);
  for (const std::string& text :
       {junk, std::string("=?x?"), std::string("Subject: =?a?b"), std::string("a:\n b\n=3"),
        std::string("Content-Type: multipart/x; boundary=a\n\n--a\n--a--")}) {
    EXPECT_NO_THROW(parse_mail(text, {}));
  }
}

}  // namespace
}  // namespace sharelearn
