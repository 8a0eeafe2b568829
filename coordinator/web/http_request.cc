#include "coordinator/web/http_request.h"

#include <algorithm>

#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kFieldsEnd = "\r\n\r\n";
constexpr std::string_view kCookieField = "cookie:";

/// What comes before `separator`, which both are taken off `rest`; all of it if there is none.
std::string_view TakeTo(std::string_view separator, std::string_view& rest) {
  const std::size_t end = rest.find(separator);
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + separator.size());
  return taken;
}

/// The value of NAME=VALUE in a list; empty if there is none.
std::string_view ValueIn(std::string_view list, std::string_view separator, std::string_view name) {
  while (!list.empty()) {
    std::string_view value = TakeTo(separator, list);
    if (TakeTo("=", value) == name) return value;
  }
  return {};
}

bool IsVisible(char c) { return c > ' ' && c < '\x7f'; }

bool IsCookieField(std::string_view line) {
  return line.size() > kCookieField.size() &&
         std::equal(
             kCookieField.begin(), kCookieField.end(), line.begin(),
             [](char wanted, char c) { return wanted == (c >= 'A' && c <= 'Z' ? c | 0x20 : c); });
}

void AddCookies(std::string_view value, std::string& cookies) {
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  if (!cookies.empty()) cookies += "; ";
  cookies += value;
}

}  // namespace

std::string HttpRequest::QueryValue(std::string_view name) const {
  return std::string(ValueIn(query, "&", name));
}

std::string HttpRequest::Cookie(std::string_view name) const {
  return std::string(ValueIn(cookies, "; ", name));
}

std::variant<PartOfRequest, HttpRequest, BadRequest> ParseRequest(std::string_view bytes) {
  const std::size_t end = bytes.find(kFieldsEnd);
  if (std::min(end, bytes.size()) > kRequestBytesMax - kFieldsEnd.size())
    return BadRequest{431, absl::StrCat("the request has more than ", kRequestBytesMax, " bytes")};
  if (end == std::string_view::npos) return PartOfRequest{};
  std::string_view fields = bytes.substr(0, end);
  std::string_view version = TakeTo(kLineEnd, fields);
  const std::string_view method = TakeTo(" ", version);
  std::string_view target = TakeTo(" ", version);
  if (!version.starts_with("HTTP/1.") || !target.starts_with('/') ||
      !std::all_of(target.begin(), target.end(), IsVisible))
    return BadRequest{400, "this is no request of HTTP/1.1"};
  if (method != "GET") return BadRequest{405, "this server only shows: GET is its only method"};
  HttpRequest request;
  request.path = TakeTo("?", target);
  request.query = target;
  while (!fields.empty()) {
    const std::string_view line = TakeTo(kLineEnd, fields);
    if (IsCookieField(line)) AddCookies(line.substr(kCookieField.size()), request.cookies);
  }
  return request;
}

}  // namespace bspnow::coordinator
