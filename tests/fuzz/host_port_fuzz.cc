// Fuzzes the parser of HOST:PORT. What it accepts is the same after it is written and read again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "net/socket.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const auto parsed =
      bspnow::ParseHostPort(std::string_view(reinterpret_cast<const char*>(data), bytes));
  if (!parsed.ok()) return 0;
  const auto again = bspnow::ParseHostPort(parsed->ToString());
  BSP_CHECK(again.ok());
  BSP_CHECK(again->host == parsed->host && again->port == parsed->port);
  return 0;
}
