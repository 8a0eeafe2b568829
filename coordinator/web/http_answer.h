// The answers of the web page's server, as they go over the wire. Each closes its connection, is
// kept in no cache, and forbids the page to load, or send, anything from or to elsewhere.
#ifndef COORDINATOR_WEB_HTTP_ANSWER_H_
#define COORDINATOR_WEB_HTTP_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>

#include "coordinator/web/page_files.h"

namespace bspnow::coordinator {

/// One line, for people.
std::string TextAnswer(int status, std::string_view line);

std::string FileAnswer(const PageFile& file);

struct SessionCookie {
  std::string name;
  std::string session;
  bool secure;  ///< For HTTPS alone.
};
/// To the page; with the cookie that opens it, unless the browser has it.
std::string SessionAnswer(const std::optional<SessionCookie>& cookie);

/// Of server-sent events, which follow.
std::string StreamHead();
/// An event of no meaning.
inline constexpr char kStillHere[] = ":\n\n";

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_HTTP_ANSWER_H_
