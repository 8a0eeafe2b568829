// What the job table wants done: plain data.
#ifndef COORDINATOR_CORE_JOBS_JOB_ORDERS_H_
#define COORDINATOR_CORE_JOBS_JOB_ORDERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/core/jobs/process_ends.h"

namespace bspnow::coordinator {

struct StartOrder {
  JobId job;
  Epoch epoch;
  std::vector<NodeShare> hosts;  ///< Tell each of them.
  /// It ran before: from its last committed checkpoint, if it has one. Tell the table which one it
  /// is with SetResumePoint.
  bool resumes;
  bool direct = false;  ///< Its nodes release themselves; see ReleasesItself.
};

struct EndOrder {
  WorkerId worker;
  JobId job;
  Epoch epoch;
  bool keep_files;
  bool keep_profile;
};

/// A node that does not carry out an order, though it renews its lease: another order cannot help.
struct DeafNode {
  WorkerId worker;
  std::string reason;
};

struct SignalOrder {
  WorkerId worker;
  JobId job;
  Epoch epoch;
  int signal;
};

/// All its processes have ended. Before that counts, what they printed must be durable, and whole:
/// answer with OnOutputDurable.
struct FinishedJob {
  JobId job;
  Epoch epoch;
  std::vector<Printed> printed;
};

struct LauncherLine {
  JobId job;
  std::string text;  ///< For the job's standard error; who prints it says who speaks.
};

/// To be written to the journal, in this order; answer with OnStored or OnStoreFailed.
struct JobTransition {
  std::uint64_t sequence;
  /// Each replaces what is stored of its job. One; but of a new array all elements, or none of them
  /// is to be stored.
  std::vector<JobRecord> records;
};

/// What the cluster must do now, each list in its order; lines before ends.
struct JobOrders {
  std::vector<JobTransition> store;
  std::vector<StartOrder> starts;
  std::vector<SignalOrder> signals;
  std::vector<EndOrder> ends;
  std::vector<DeafNode> deaf;  ///< To be given up.
  std::vector<LauncherLine> lines;
  std::vector<FinishedJob> finished;
  std::vector<JobId> accepted;  ///< Durable: answer SubmitJob.
  std::vector<JobId> refused;   ///< Could not be stored: answer SubmitJob with the error.
  std::vector<JobId>
      recovering;  ///< Its epoch is over (lost, moved, suspended): nothing of it counts.
  std::vector<JobId> returned;   ///< All its hosts are back: it goes on where it was.
  std::vector<JobId> cleared;    ///< Left all nodes: tell the barrier server.
  std::vector<JobId> suspended;  ///< Durable, and left all nodes: answer SuspendJob.
  std::vector<JobId> inputs;     ///< Durable that it took input: it may be sent.
  std::vector<JobId> ended;      ///< Durable: answer WaitJob, end followers.
  std::vector<JobId> recalled;   ///< Not known here any more: tell with OnOutcome how they ended.
  std::vector<JobId> archived;   ///< Forgotten here: from the journal into the history.

  void Append(JobOrders more);
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_JOB_ORDERS_H_
