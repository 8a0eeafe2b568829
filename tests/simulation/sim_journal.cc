#include "tests/simulation/sim_journal.h"

#include <algorithm>
#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t kWritesPerSlowOne = 200;
constexpr std::uint64_t kSlowNs = 3 * kSecond;

bool PrintsNoMore(const JobRecord& record) {
  return coordinator::HasEnded(record) || record.job().state() == proto::ENDING;
}

}  // namespace

StoredState SimJournal::Load(std::uint64_t term_key) {
  runs += 1;
  if (const auto found = std::exchange(failed_row, nullptr)) found();
  // A job that has a log was there, as the daemon sees by its directory.
  StoredState stored{.cluster = cluster,
                     .term = ++term,
                     .term_key = term_key,
                     .last_job = logs.empty() ? JobId{0} : logs.rbegin()->first,
                     .jobs = {},
                     .checkpoints = checkpoints,
                     .drained_nodes = {drained.begin(), drained.end()},
                     .parameters = {}};
  for (const auto& [id, record] : jobs) stored.jobs.push_back(record);
  return stored;
}

SimJournal::Copy SimJournal::TakeCopy() const {
  Copy copy{.rows = *this, .printed = {}, .incomplete = {}};
  for (const auto& [job, log] : logs) {
    for (const auto& [stream, text] : log.texts) copy.printed[job][stream] = text.size();
    if (log.incomplete) copy.incomplete.insert(job);
  }
  return copy;
}

// A log that was cut back meanwhile may have less than the copy's checkpoints say.
void SimJournal::PutBack(const Copy& copy) {
  static_cast<SimJournalRows&>(*this) = copy.rows;
  failed_row = nullptr;
  put_back = true;
  for (auto& [job, log] : logs) log.incomplete = false;
  for (const auto& [job, printed] : copy.printed) {
    SimLog& log = logs[job];
    bool shorter = false;
    for (const auto& [stream, bytes] : printed) shorter |= log.texts[stream].size() < bytes;
    log.damaged = log.damaged || shorter;
    log.incomplete = (shorter || copy.incomplete.contains(job)) && jobs.contains(job) &&
                     PrintsNoMore(jobs.at(job));
  }
}

void SimWriter::Queue(Write write) {
  queue_.push_back(std::move(write));
  if (queue_.size() == 1) Next();
}

// A disk is slow now and then, or for a while.
std::uint64_t SimWriter::SlowNs() {
  if (loop_.now_ns() < disk_.slow_until_ns && loop_.Chance(30)) return loop_.Below(kSecond);
  return loop_.Below(kWritesPerSlowOne) == 0 ? loop_.Below(kSlowNs) : 0;
}

// Who may not write waits for ever for the lock.
void SimWriter::Next() {
  const std::uint64_t slow_ns = SlowNs();
  if (slow_ns != 0) slow_writes_ += 1;
  const std::uint64_t write_ns = delay_ns_ / 20 + loop_.Below(delay_ns_) + slow_ns;
  loop_.On(coordinator_, write_ns + queue_.front().longer_ns, [this] {
    if (dead_ || !may_write_()) return;
    const Write write = std::move(queue_.front());
    queue_.pop_front();
    const absl::Status written = write.apply();
    if (!queue_.empty()) Next();
    // In the order of the writes, as one thread posts them.
    done_ns_ = std::max(done_ns_, loop_.now_ns() + loop_.Below(kMillisecond));
    loop_.On(coordinator_, done_ns_ - loop_.now_ns(), [this, done = write.done, written] {
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
