// Fuzzes the parser of what browsers ask the web page's server.
#include <cstdint>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "coordinator/web/http_request.h"

using bspnow::coordinator::BadRequest;
using bspnow::coordinator::HttpRequest;
using bspnow::coordinator::PartOfRequest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const auto parsed = bspnow::coordinator::ParseRequest(
      std::string_view(reinterpret_cast<const char*>(data), bytes));
  if (std::holds_alternative<PartOfRequest>(parsed))
    BSP_CHECK(bytes <= bspnow::coordinator::kRequestBytesMax);
  if (const auto* refused = std::get_if<BadRequest>(&parsed)) BSP_CHECK(refused->status >= 400);
  if (const auto* request = std::get_if<HttpRequest>(&parsed)) {
    BSP_CHECK(request->path.starts_with('/'));
    BSP_CHECK(request->Cookie("a").size() <= request->cookies.size());
    BSP_CHECK(request->QueryValue("a").size() <= request->query.size());
  }
  return 0;
}
