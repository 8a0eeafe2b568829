#include "coordinator/web/http_answer.h"

#include <absl/strings/str_cat.h>
#include "base/units.h"
#include "coordinator/access/page_sessions.h"

namespace bspnow::coordinator {
namespace {

constexpr char kEvents[] = "text/event-stream";

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Bad Request";
  }
}

std::string Head(int status, std::string_view type) {
  return absl::StrCat(
      "HTTP/1.1 ", status, " ", std::string(ReasonOf(status)),
      "\r\n"
      "Connection: close\r\n"
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
      "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Content-Type: ",
      std::string(type), "\r\n");
}

std::string WithBody(const std::string& head, std::string_view body) {
  return absl::StrCat(head, "Content-Length: ", body.size(), "\r\n\r\n", std::string(body));
}

}  // namespace

std::string TextAnswer(int status, std::string_view line) {
  std::string head = Head(status, "text/plain; charset=utf-8");
  if (status == 405) absl::StrAppend(&head, "Allow: GET\r\n");
  return WithBody(head, absl::StrCat(std::string(line), "\n"));
}

std::string FileAnswer(const PageFile& file) { return WithBody(Head(200, file.type), file.text); }

std::string SessionAnswer(const std::optional<SessionCookie>& cookie) {
  std::string head = absl::StrCat(Head(303, "text/plain; charset=utf-8"), "Location: /\r\n");
  if (cookie)
    absl::StrAppend(&head, "Set-Cookie: ", cookie->name, "=", cookie->session,
                    "; Path=/; HttpOnly; SameSite=Strict; Max-Age=",
                    PageSessions::kSessionNs / kNsPerS, cookie->secure ? "; Secure" : "", "\r\n");
  return WithBody(head, "");
}

std::string StreamHead() { return absl::StrCat(Head(200, kEvents), "\r\nretry: 2000\n\n"); }

}  // namespace bspnow::coordinator
