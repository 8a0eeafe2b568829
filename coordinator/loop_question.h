// A question to the loop, from another thread that waits for the answer.
#ifndef COORDINATOR_LOOP_QUESTION_H_
#define COORDINATOR_LOOP_QUESTION_H_

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "net/event_loop.h"

namespace bspnow::coordinator {

/// Calls `ask` on the loop, which gives the answer once, then or later. Nothing if there is none
/// within a second: the loop is busy, or has ended.
template <typename Answer>
std::optional<Answer> AskLoop(EventLoop& loop,
                              std::function<void(std::function<void(Answer)>)> ask) {
  const auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = promise->get_future();
  loop.Post([promise, ask = std::move(ask)] {
    ask([promise](Answer given) { promise->set_value(std::move(given)); });
  });
  if (answer.wait_for(std::chrono::seconds(1)) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_LOOP_QUESTION_H_
