#ifndef BASE_START_THREAD_H_
#define BASE_START_THREAD_H_

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace bspnow {

/// Nothing if the system has no thread to give: its processes are at their limit, or memory is. Who
/// starts one while a daemon serves must go on without it.
template <typename Run>
std::optional<std::jthread> StartThread(Run run) {
  try {
    return std::jthread(std::move(run));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace bspnow

#endif  // BASE_START_THREAD_H_
