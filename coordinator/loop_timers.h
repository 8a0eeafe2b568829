// The core's time on the daemon's event loop.
#ifndef COORDINATOR_LOOP_PORTS_H_
#define COORDINATOR_LOOP_PORTS_H_

#include <utility>

#include "base/clock.h"
#include "coordinator/core/ports.h"
#include "net/event_loop.h"

namespace bspnow::coordinator {

class LoopTimers final : public Timers {
 public:
  explicit LoopTimers(EventLoop& loop) : loop_(loop) {}

  Moment Now() const override { return {.now_ns = NowNs(), .unix_ms = UnixMs()}; }
  void Post(Event event) override { loop_.Post(std::move(event)); }
  CoreTimer AddTimer(std::uint64_t after_ms, Event event) override {
    return CoreTimer{Value(loop_.AddTimer(after_ms, std::move(event)))};
  }
  void CancelTimer(CoreTimer timer) override { loop_.CancelTimer(TimerId{Value(timer)}); }

 private:
  EventLoop& loop_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_LOOP_PORTS_H_
