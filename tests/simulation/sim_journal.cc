#include "tests/simulation/sim_journal.h"

#include <utility>

namespace bspnow {

StoredState SimJournal::Load() {
  StoredState stored{.cluster = "simulated",
                     .term = ++term,
                     .jobs = {},
                     .checkpoints = checkpoints,
                     .drained_nodes = {drained.begin(), drained.end()},
                     .parameters = {}};
  for (const auto& [id, record] : jobs) stored.jobs.push_back(record);
  return stored;
}

void SimWriter::Queue(Write write) {
  queue_.push_back(std::move(write));
  if (queue_.size() == 1) Next();
}

// Who may not write waits for ever for the lock.
void SimWriter::Next() {
  loop_.On(coordinator_, delay_ns_ / 20 + loop_.Below(delay_ns_), [this] {
    if (dead_ || !may_write_()) return;
    const Write write = std::move(queue_.front());
    queue_.pop_front();
    const absl::Status written = write.apply();
    if (!queue_.empty()) Next();
    loop_.On(coordinator_, loop_.Below(kMillisecond), [this, done = write.done, written] {
      if (!dead_ && done) done(written);
    });
  });
}

void SimWriter::Die() {
  if (std::exchange(dead_, true) || !may_write_()) return;
  for (const Write& write : queue_) {
    if (loop_.Chance(50)) break;
    write.apply().IgnoreError();
  }
}

}  // namespace bspnow
