// What the web page's server understands of HTTP/1.1 (RFC 9112): GET, a path, a query, cookies. All
// else of a request is passed over, and no connection has a second one.
#ifndef COORDINATOR_WEB_HTTP_REQUEST_H_
#define COORDINATOR_WEB_HTTP_REQUEST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace bspnow::coordinator {

/// Of a request's line and header fields together, with the empty line that ends them.
inline constexpr std::size_t kRequestBytesMax = 8 << 10;

struct HttpRequest {
  std::string path;     ///< Begins with a slash; as it was sent, not decoded.
  std::string query;    ///< After the question mark.
  std::string cookies;  ///< "a=1; b=2": of all such fields.

  /// Empty if there is none of this name.
  std::string QueryValue(std::string_view name) const;
  std::string Cookie(std::string_view name) const;
};

/// More bytes are needed.
struct PartOfRequest {};

struct BadRequest {
  int status;  ///< Of HTTP: 400 and more.
  std::string why;
};

/// Of the first bytes of a connection.
std::variant<PartOfRequest, HttpRequest, BadRequest> ParseRequest(std::string_view bytes);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_HTTP_REQUEST_H_
