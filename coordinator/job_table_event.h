// One event of the job table: what it changes, and what it causes. Private to job_table.
#ifndef COORDINATOR_JOB_TABLE_EVENT_H_
#define COORDINATOR_JOB_TABLE_EVENT_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/job_table.h"

namespace bspnow {

class JobTable::Event {
 public:
  Event(JobTable& table, const Moment& at) : table_(table), at_(at) {}

  Entry* Find(JobId job) {
    const auto found = table_.entries_.find(job);
    return found == table_.entries_.end() ? nullptr : &found->second;
  }

  /// The job if it runs in this epoch; what is older is no news.
  Entry* FindRunning(JobId job, Epoch epoch) {
    Entry* entry = Find(job);
    return entry != nullptr && entry->started && entry->record.epoch == epoch ? entry : nullptr;
  }

  void Store(const Entry& entry, Due due) {
    const std::uint64_t sequence = ++table_.last_sequence_;
    table_.pending_.push_back({sequence, entry.record.id, entry.record.epoch, due});
    orders_.store.push_back({sequence, entry.record});
  }

  void Perform(Entry& entry, const Actions& actions);
  void Interrupt(Entry& entry, int signal);
  void Cancel(Entry& entry, int signal, const std::string& why);
  void BeginEnding(Entry& entry);
  void HostLeft(Entry& entry, WorkerId worker);
  void End(Entry& entry);
  void Schedule();
  void OnDurable(const Pending& pending);
  void OnNotDurable(const Pending& pending, const std::string& why);
  void LoseHost(Entry& entry, WorkerId worker, const std::string& why);
  void Signal(const Entry& entry, int signal);
  void OnDeadline(Entry& entry);

  JobOrders Take() { return std::move(orders_); }

 private:
  void PlaceAt(Entry& entry, std::vector<NodeShare> shares);
  void Unplace(Entry& entry);
  void StartNow(Entry& entry);
  void Retire(JobId job);

  JobTable& table_;
  const Moment& at_;
  JobOrders orders_;
};

}  // namespace bspnow

#endif  // COORDINATOR_JOB_TABLE_EVENT_H_
