// The core's ports on the daemon's event loop: what other threads have written comes back as an
// event of the loop.
#ifndef COORDINATOR_LOOP_PORTS_H_
#define COORDINATOR_LOOP_PORTS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "coordinator/core/ports.h"
#include "coordinator/journal/job_store.h"
#include "coordinator/output/job_log.h"
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

/// `done`, as an event of the loop, whichever thread calls it.
template <typename Outcome>
std::function<void(Outcome)> OnLoop(EventLoop& loop, std::function<void(const Outcome&)> done) {
  return [&loop, done = std::move(done)](Outcome outcome) {
    loop.Post([done, outcome = std::move(outcome)] { done(outcome); });
  };
}

class LoopJournal final : public Journal {
 public:
  LoopJournal(EventLoop& loop, JobStore& store) : loop_(loop), store_(store) {}

  void WriteJob(JobRecord record, Done done) override {
    store_.WriteJob(record, OnLoop<absl::Status>(loop_, std::move(done)));
  }
  void WriteCheckpoints(JobId job, std::string catalogue, Done done) override {
    store_.WriteCheckpoints(job, std::move(catalogue),
                            OnLoop<absl::Status>(loop_, std::move(done)));
  }
  void WriteDrained(std::string node, Done done) override {
    store_.WriteDrained(std::move(node), OnLoop<absl::Status>(loop_, std::move(done)));
  }
  void WriteUndrained(std::string node, Done done) override {
    store_.WriteUndrained(std::move(node), OnLoop<absl::Status>(loop_, std::move(done)));
  }
  void WriteParameters(std::uint32_t p, std::string parameters, Done done) override {
    store_.WriteParameters(p, std::move(parameters), OnLoop<absl::Status>(loop_, std::move(done)));
  }

 private:
  EventLoop& loop_;
  JobStore& store_;
};

class LoopLogs final : public OutputLogs {
 public:
  LoopLogs(EventLoop& loop, JobLogs& logs) : loop_(loop), logs_(logs) {}

  void Begin(JobId job) override { logs_.Begin(job); }
  void Append(JobId job, LogRecord record, Done done) override {
    logs_.Append(job, std::move(record), OnLoop<absl::Status>(loop_, std::move(done)));
  }
  void Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) override {
    logs_.Cut(job, positions, OnLoop<absl::StatusOr<LogCut>>(loop_, std::move(done)));
  }
  void Sync(JobId job, const std::vector<LogPosition>& reach, Done done) override {
    logs_.Sync(job, reach, OnLoop<absl::Status>(loop_, std::move(done)));
  }
  void End(JobId job) override { logs_.End(job); }
  std::string waits_for() const override { return logs_.waits_for(); }

 private:
  EventLoop& loop_;
  JobLogs& logs_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_LOOP_PORTS_H_
