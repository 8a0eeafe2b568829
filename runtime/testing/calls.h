// BSPlib's calls on a Process of its own, for tests that have no bsp.h around them.
#ifndef RUNTIME_TESTING_CALLS_H_
#define RUNTIME_TESTING_CALLS_H_

#include <cstddef>
#include <cstdint>

#include "runtime/process.h"

namespace bspnow::runtime {

/// What a put and a get have in common: `area` is registered, `local` is here.
struct CallForTest {
  std::uint32_t pid;
  const void* area;
  std::uint64_t offset;
  void* local;
  std::uint64_t bytes;
};

inline Transfer TransferForTest(Direction direction, Buffering buffering, const CallForTest& call) {
  return Transfer{.call = direction == Direction::kPut ? "bsp_put" : "bsp_get",
                  .direction = direction,
                  .buffering = buffering,
                  .pid = call.pid,
                  .area = call.area,
                  .offset = call.offset,
                  .local = call.local,
                  .bytes = call.bytes,
                  .call_site = 0};
}

inline void Put(Process& process, const CallForTest& call) {
  process.Move(TransferForTest(Direction::kPut, Buffering::kBuffered, call));
}
inline void Get(Process& process, const CallForTest& call) {
  process.Move(TransferForTest(Direction::kGet, Buffering::kBuffered, call));
}
inline void HpPut(Process& process, const CallForTest& call) {
  process.Move(TransferForTest(Direction::kPut, Buffering::kUnbuffered, call));
}
inline void HpGet(Process& process, const CallForTest& call) {
  process.Move(TransferForTest(Direction::kGet, Buffering::kUnbuffered, call));
}
inline void DirectGet(Process& process, const CallForTest& call) {
  process.MoveNow(TransferForTest(Direction::kGet, Buffering::kUnbuffered, call));
}
inline void Register(Process& process, void* area, std::uint64_t bytes) {
  process.Push("bsp_push_reg", reinterpret_cast<std::uintptr_t>(area), bytes);
}

/// Byte i of what `pid` sends in `superstep`.
inline std::byte Pattern(std::uint32_t pid, std::uint64_t superstep, std::size_t i) {
  return static_cast<std::byte>(pid * 101 + superstep * 7 + i * 13 + i / 251);
}

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_CALLS_H_
