// What a loop's thread alone may look at, for the thread of a scrape.
#ifndef NET_METRICS_ASK_LOOP_H_
#define NET_METRICS_ASK_LOOP_H_

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "net/event_loop.h"

namespace bspnow {

/// Nothing if the loop has no time in two seconds, or has ended: then the metrics lack what it
/// knows. Zeros instead would be counters that begin anew.
template <typename Answer>
std::optional<Answer> AskLoop(EventLoop& loop, std::function<Answer()> question) {
  constexpr std::chrono::seconds kPatience{2};
  const auto answer = std::make_shared<std::promise<Answer>>();
  std::future<Answer> told = answer->get_future();
  loop.Post([answer, question = std::move(question)] { answer->set_value(question()); });
  if (told.wait_for(kPatience) != std::future_status::ready) return std::nullopt;
  return told.get();
}

}  // namespace bspnow

#endif  // NET_METRICS_ASK_LOOP_H_
