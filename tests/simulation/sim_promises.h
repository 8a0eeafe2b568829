// What users were told is done: no restart of the coordinator may forget it.
//
// - What was cancelled is not started again, and ends as cancelled.
// - What was suspended is not started before somebody asks for that, and a later coordinator finds
//   it suspended; what was resumed it does not.
// - A node is drained, or not, as was said last; nothing is placed on one that is.
// - A job has the name that it was given last.
#ifndef TESTS_SIMULATION_SIM_PROMISES_H_
#define TESTS_SIMULATION_SIM_PROMISES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/ids.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/ports.h"

namespace bspnow {

using coordinator::Drain;
using coordinator::JobRecord;
using coordinator::StoredState;

class SimPromises {
 public:
  explicit SimPromises(std::function<void(const std::string&)> failed)
      : failed_(std::move(failed)) {}

  // ---- What is said, by coordinators that rule.

  /// `record` is what the one that says so has.
  void OnCancelled(const JobRecord& record);
  /// Somebody asks for it; the number is for the answer.
  std::uint64_t OnSuspend() { return ++asked_; }
  /// It holds unless somebody has asked since for the job to go on.
  void OnSuspended(JobId job, std::uint64_t asked);
  /// Somebody asks for it: it may be done though nobody hears of that.
  std::uint64_t OnResume(JobId job);
  /// It holds unless the job was suspended once more meanwhile.
  void OnResumed(JobId job, std::uint64_t asked);
  /// Only the answer to the last one counts.
  std::uint64_t OnDrain(const std::string& node);
  void OnDrained(const std::string& node, std::uint64_t asked, Drain drain);
  std::uint64_t OnRename(JobId job);
  void OnRenamed(JobId job, std::uint64_t asked, const std::string& name);
  /// An older journal has forgotten what it has forgotten.
  void OnPutBack();

  // ---- What happens.

  void OnStart(JobId job);
  void OnPlaced(const JobRecord& record);
  void OnWritten(const JobRecord& record);
  void OnEnded(const JobRecord& record);
  /// Another coordinator finds this.
  void OnFound(const StoredState& stored);

 private:
  void Fail(JobId job, const std::string& what) const;

  const std::function<void(const std::string&)> failed_;
  std::uint64_t asked_ = 0;
  std::set<JobId> answered_;  ///< Cancellations that were acknowledged, of whatever.
  std::set<JobId> cancelled_;
  std::set<JobId> suspended_;
  std::set<JobId> resumed_;
  std::map<JobId, std::uint64_t> last_resume_;      ///< Asked for.
  std::map<JobId, std::uint64_t> last_suspension_;  ///< Given to the journal.
  std::map<std::string, std::uint64_t> last_drain_;
  std::map<std::string, Drain> drained_;
  std::map<JobId, std::uint64_t> last_name_;
  std::map<JobId, std::string> names_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_PROMISES_H_
