// What the coordinators of a simulation have on their disk: the journal, and what jobs print.
#ifndef TESTS_SIMULATION_SIM_JOURNAL_H_
#define TESTS_SIMULATION_SIM_JOURNAL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/checkpoints/checkpoint.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/jobs/job_record.h"
#include "tests/simulation/sim_loop.h"

namespace bspnow {

/// A word that a process has printed.
struct SimOutput {
  std::uint32_t pid;
  std::uint64_t offset;
  std::uint64_t word;
};

/// What a job's spec says.
struct SimSpec {
  JobRequest request;
  CheckpointRule rule;
};

struct SimJournal {
  std::map<JobId, JobRecord> jobs;
  std::map<JobId, CheckpointCatalogue> checkpoints;
  std::set<std::string> drained;
  std::uint64_t next_job = 1;
  std::uint32_t term = 0;
  std::map<std::string, SimSpec> specs;  ///< By JobRecord.spec.
  std::uint32_t copies = 1;
  std::string share;   ///< Of all nodes, for images; or empty.
  bool fails = false;  ///< From time to time, as a full disk does.

  /// By pid.
  using Log = std::map<std::uint32_t, std::vector<std::uint64_t>>;
  std::map<JobId, Log> logs;
};

enum class Written { kNo, kYes };

/// A thread that writes one thing after the other, for one coordinator.
class SimWriter {
 public:
  struct Write {
    std::function<Written()> apply;
    std::function<void(Written)> done;  ///< On the coordinator's thread.
  };

  SimWriter(SimLoop& loop, SimLoop::ActorPtr coordinator, std::function<bool()> may_write,
            std::uint64_t delay_ns)
      : loop_(loop),
        coordinator_(std::move(coordinator)),
        may_write_(std::move(may_write)),
        delay_ns_(delay_ns) {}

  void Queue(Write write);
  /// What is being written may be on the disk or not.
  void Die();

 private:
  void Next();

  SimLoop& loop_;
  SimLoop::ActorPtr coordinator_;
  std::function<bool()> may_write_;
  std::uint64_t delay_ns_;
  std::deque<Write> queue_;
  bool dead_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_JOURNAL_H_
