#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "base/clock.h"
#include "base/units.h"
#include "net/rpc/grpc_log.h"

namespace bspnow {
namespace {

/// gRPC's threads call it; the function that they are given has no room for a context.
void WriteLine(gpr_log_func_args* line) {
  static std::mutex mutex;
  static std::uint64_t written_ns = 0;  // When the last line was written.
  static std::uint64_t left_out = 0;    // Since then.
  const std::lock_guard lock(mutex);
  const std::uint64_t now_ns = NowNs();
  if (written_ns != 0 && now_ns - written_ns < kNsPerS) {
    left_out += 1;
    return;
  }
  if (left_out == 0) {
    spdlog::info("event=grpc reason=\"{}\"", line->message);
  } else {
    spdlog::info("event=grpc left_out={} reason=\"{}\"", left_out, line->message);
  }
  written_ns = now_ns;
  left_out = 0;
}

}  // namespace

void LogGrpc() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function(WriteLine);
}

}  // namespace bspnow
