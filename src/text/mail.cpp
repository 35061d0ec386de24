// Parses mails: headers, MIME parts, dates.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>

#include "text/words.hpp"

namespace sharelearn {
namespace {

constexpr int kDeepestParts = 16;  // deepest nesting of multipart that is read

using Headers = std::map<std::string, std::string>;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

/// Removes and returns the next line of `rest`, without its line end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_field_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > 32 && c < 127; });
}

/// Removes and returns the headers. Folded lines are joined; values of repeated fields are appended.
Headers take_headers(std::string_view& rest) {
  Headers headers;
  std::string last;
  while (!rest.empty()) {
    std::string_view ahead = rest;
    const std::string_view line = take_line(ahead);
    if (line.empty()) {
      rest = ahead;
      break;
    }
    const std::size_t colon = line.find(':');
    const bool folded = line.front() == ' ' || line.front() == '\t';
    if (folded && !last.empty()) {
      headers[last].append(" ").append(trim(line));
    } else if (colon != std::string_view::npos && is_field_name(line.substr(0, colon))) {
      last = lower(line.substr(0, colon));
      std::string& field = headers[last];
      if (!field.empty()) field += ' ';
      field += trim(line.substr(colon + 1));
    } else {
      break;  // not a header: the body begins here
    }
    rest = ahead;
  }
  return headers;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int l = std::tolower(static_cast<unsigned char>(c));
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

std::string decode_quoted(std::string_view text, bool header) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (header && text[i] == '_') {
      out += ' ';
    } else if (text[i] != '=') {
      out += text[i];
    } else if (i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {  // a soft line end
      while (i + 1 < text.size() && (text[i + 1] == '\r' || text[i + 1] == '\n')) {
        ++i;
        if (text[i] == '\n') break;
      }
    }
  }
  return out;
}

std::string decode_base64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) continue;
    bits = bits << 6 | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

/// =?charset?Q?...?= and =?charset?B?...?= in a header (RFC 2047). Linear: where no "?=" follows, there are
/// no further encoded words.
std::string decode_header(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t begin = text.find("=?");
    const std::size_t charset = begin == std::string_view::npos ? begin : text.find('?', begin + 2);
    if (charset == std::string_view::npos) return out.append(text);
    if (charset + 2 >= text.size() || text[charset + 2] != '?') {
      out += text.substr(0, begin + 2);
      text.remove_prefix(begin + 2);
      continue;
    }
    const std::size_t end = text.find("?=", charset + 3);
    if (end == std::string_view::npos) return out.append(text);
    const std::string_view body = text.substr(charset + 3, end - charset - 3);
    out += text.substr(0, begin);
    out += std::tolower(static_cast<unsigned char>(text[charset + 1])) == 'b' ? decode_base64(body)
                                                                              : decode_quoted(body, true);
    text.remove_prefix(end + 2);
  }
}

/// The value of `name=` in a header such as Content-Type.
std::string parameter(const std::string& header, std::string_view name) {
  const std::string text = lower(header);
  std::size_t at = text.find(std::string(name) + "=");
  if (at == std::string::npos) return "";
  at += name.size() + 1;
  const bool quoted = at < header.size() && header[at] == '"';
  if (quoted) ++at;
  const std::size_t end = quoted ? header.find('"', at) : header.find_first_of("; \t", at);
  return header.substr(at, std::min(end, header.size()) - at);
}

std::string strip_tags(std::string_view html) {
  std::string out;
  bool tag = false;
  for (const char c : html) {
    if (c == '<') tag = true;
    if (!tag) out += c;
    if (c == '>' && tag) {
      tag = false;
      out += ' ';
    }
  }
  return out;
}

void append_text(const Headers& headers, std::string_view body, int depth, std::string& out);

void append_parts(const std::string& boundary, std::string_view body, int depth, std::string& out) {
  const std::string mark = "--" + boundary;
  std::size_t at = body.find(mark);
  while (at != std::string_view::npos) {
    const std::size_t begin = at + mark.size();
    if (body.substr(begin).starts_with("--")) return;
    const std::size_t end = body.find(mark, begin);
    std::string_view part = body.substr(begin, end == std::string_view::npos ? end : end - begin);
    take_line(part);
    const Headers headers = take_headers(part);
    append_text(headers, part, depth + 1, out);
    at = end;
  }
}

void append_text(const Headers& headers, std::string_view body, int depth, std::string& out) {
  const auto field = [&](const char* name) {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  };
  const std::string type = field("content-type");
  const std::string kind = lower(type.substr(0, type.find(';')));
  const std::string boundary = parameter(type, "boundary");
  if (kind.starts_with("multipart/") && !boundary.empty() && depth < kDeepestParts) {
    append_parts(boundary, body, depth, out);
    return;
  }
  if (kind.starts_with("message/") && depth < kDeepestParts) {
    const Headers inner = take_headers(body);
    append_text(inner, body, depth + 1, out);
    return;
  }
  if (!kind.empty() && !kind.starts_with("text/")) return;  // images, programs
  const std::string encoding = lower(trim(field("content-transfer-encoding")));
  std::string text = encoding == "base64"             ? decode_base64(body)
                     : encoding == "quoted-printable" ? decode_quoted(body, false)
                                                      : std::string(body);
  out += kind == "text/html" ? strip_tags(text) : text;
  out += '\n';
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
std::int64_t days_from_civil(std::int64_t year, int month, int day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

std::vector<std::string> date_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '(') break;  // a comment with the name of the time zone
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == ':') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool number(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

int month_of(const std::string& word) {
  static constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                               "jul", "aug", "sep", "oct", "nov", "dec"};
  const std::string name = lower(word.substr(0, 3));
  for (int m = 0; m < 12; ++m) {
    if (kMonths[static_cast<std::size_t>(m)] == name) return m + 1;
  }
  return 0;
}

/// Offset of the time zone in seconds, positive east of Greenwich.
int zone_of(const std::string& word) {
  int digits = 0;
  if (word.size() == 5 && (word[0] == '+' || word[0] == '-') && number(word.substr(1), digits)) {
    const int seconds = (digits / 100 * 60 + digits % 100) * 60;
    return word[0] == '-' ? -seconds : seconds;
  }
  static const std::map<std::string, int> kNamed = {{"est", -5}, {"edt", -4}, {"cst", -6}, {"cdt", -5},
                                                    {"mst", -7}, {"mdt", -6}, {"pst", -8}, {"pdt", -7}};
  const auto found = kNamed.find(lower(word));
  return found == kNamed.end() ? 0 : found->second * 3600;
}

}  // namespace

bool parse_date(std::string_view text, std::int64_t& seconds) {
  std::vector<std::string> words = date_words(text);
  if (!words.empty() && std::isalpha(static_cast<unsigned char>(words[0][0])) != 0)
    words.erase(words.begin());
  int day = 0, year = 0;
  if (words.size() < 4 || !number(words[0], day) || !number(words[2], year)) return false;
  const int month = month_of(words[1]);
  if (year < 50)
    year += 2000;
  else if (year < 1000)
    year += 1900;
  if (month == 0 || day < 1 || day > 31 || year > 9999) return false;
  std::array<int, 3> clock{0, 0, 0};
  std::string_view rest = words[3];
  for (std::size_t part = 0; part < 3 && !rest.empty(); ++part) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (!number(rest.substr(0, colon), clock[part]) || clock[part] < 0 || clock[part] > 60) return false;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  const int zone = words.size() > 4 ? zone_of(words[4]) : 0;
  seconds = days_from_civil(year, month, day) * 86400 + std::int64_t{clock[0]} * 3600 +
            std::int64_t{clock[1]} * 60 + clock[2] - zone;
  return true;
}

bool looks_like_mail(std::string_view raw) {
  const Headers headers = take_headers(raw);
  return headers.contains("from") || headers.contains("date") || headers.contains("message-id") ||
         headers.contains("received");
}

bool looks_like_mbox(std::string_view raw) {
  return take_line(raw).starts_with("From ") && looks_like_mail(raw);
}

Mail parse_mail(std::string_view raw, const WordOptions& options) {
  Mail mail;
  std::string_view body = raw;
  const Headers headers = take_headers(body);
  for (const std::string& name : options.headers) {
    const auto field = headers.find(lower(name));
    if (field != headers.end()) mail.text += decode_header(field->second) + '\n';
  }
  const auto date = headers.find("date");
  mail.has_date = date != headers.end() && parse_date(date->second, mail.date);
  append_text(headers, body, 0, mail.text);
  return mail;
}

std::vector<std::string> split_mbox(std::string_view raw) {
  std::vector<std::string> messages;
  bool after_blank = true;
  while (!raw.empty()) {
    const std::string_view line = take_line(raw);
    if (after_blank && line.starts_with("From ")) {
      messages.emplace_back();
    } else if (!messages.empty()) {
      const std::size_t quotes = std::min(line.find_first_not_of('>'), line.size());
      const bool quoted = quotes > 0 && line.substr(quotes).starts_with("From ");
      messages.back().append(quoted ? line.substr(1) : line).append("\n");
    }
    after_blank = line.empty();
  }
  return messages;
}

}  // namespace sharelearn
