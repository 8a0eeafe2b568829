// A put or get, as it comes from the program.
#ifndef RUNTIME_TRANSFER_H_
#define RUNTIME_TRANSFER_H_

#include <cstdint>

#include "runtime/link/report.h"
#include "runtime/transfers/direct_transfer.h"

namespace bspnow::runtime {

enum class Buffering { kBuffered, kUnbuffered };

/// A put or get as the user wrote it. `area` is the registered address, `local` the other one.
struct Transfer {
  const char* call;
  Direction direction;
  Buffering buffering;
  std::int64_t pid;
  const void* area;
  std::uint64_t offset;
  void* local;
  std::uint64_t bytes;
  std::uint64_t call_site;

  Call caller() const { return {call, call_site}; }
};

/// What of a put or get tells it from the one before it.
struct NextTransfer {
  std::int64_t pid;
  const void* area;
  std::uint64_t offset;
  void* local;
  std::uint64_t bytes;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFER_H_
