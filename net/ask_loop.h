// A question to a loop, from another thread that waits for the answer.
#ifndef NET_ASK_LOOP_H_
#define NET_ASK_LOOP_H_

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "net/event_loop.h"

namespace bspnow {

/// Calls `ask` on the loop, which gives its argument the answer, once, then or later. Nothing if
/// there is none in two seconds: the loop is busy, or has ended. Who shows figures then shows none
/// of them: zeros would be counters that begin anew.
template <typename Answer>
std::optional<Answer> AskLoopForLater(EventLoop& loop,
                                      std::function<void(std::function<void(Answer)>)> ask) {
  constexpr std::chrono::seconds kPatience{2};
  const auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = promise->get_future();
  loop.Post([promise, ask = std::move(ask)] {
    ask([promise](Answer given) { promise->set_value(std::move(given)); });
  });
  if (answer.wait_for(kPatience) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

/// The same for what the loop can say at once.
template <typename Answer>
std::optional<Answer> AskLoop(EventLoop& loop, std::function<Answer()> question) {
  return AskLoopForLater<Answer>(
      loop, [question = std::move(question)](const std::function<void(Answer)>& answer) {
        answer(question());
      });
}

}  // namespace bspnow

#endif  // NET_ASK_LOOP_H_
