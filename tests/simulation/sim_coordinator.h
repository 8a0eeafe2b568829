// The coordinator of the simulation: JobTable, Barrier and Leases as they are, and a rim that
// answers at once. What it has stored outlives it (SimJournal).
#ifndef TESTS_SIMULATION_SIM_COORDINATOR_H_
#define TESTS_SIMULATION_SIM_COORDINATOR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/barrier.h"
#include "coordinator/job_table.h"
#include "coordinator/leases.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_oracle.h"

namespace bspnow {

/// What is on the disk.
struct SimJournal {
  std::map<JobId, JobRecord> jobs;
  std::uint64_t next_job = 1;
  std::uint32_t term = 0;
  std::map<std::string, JobRequest> specs;  ///< What each JobRecord.spec says.
  bool fails = false;                       ///< From time to time, as a full disk does.
};

/// What the coordinator says to a worker.
class SimWorkerPort {
 public:
  virtual void OnStart(const StartOrder& order, const std::string& spec) = 0;
  virtual void OnEnd(const EndOrder& order) = 0;
  virtual void OnWelcome(const std::shared_ptr<SimLink>& link) = 0;
  virtual void OnBegin(JobId job, Epoch epoch, std::uint32_t processes) = 0;
  virtual void OnRelease(JobId job, Epoch epoch, std::vector<std::byte> release) = 0;

 protected:
  ~SimWorkerPort() = default;
};

class SimCoordinator {
 public:
  using Link = std::shared_ptr<SimLink>;
  using OnJob = std::function<void(JobId)>;

  SimCoordinator(SimLoop& loop, SimOracle& oracle, SimJournal& journal);

  /// Its machine loses power. What is being written may be on the disk or not.
  void Die();
  bool dead() const { return dead_; }
  const JobTable& table() const { return table_; }

  // ---- Clients; the answer comes when the submission is durable.

  void Submit(const JobRequest& request, const std::string& key, OnJob acknowledged);
  void Cancel(JobId job) { Perform(table_.OnCancel(job, "cancelled", Now())); }
  void Signal(JobId job, int signal) { Perform(table_.OnSignal(job, signal, Now())); }
  void Drain(WorkerId worker) { Perform(table_.OnDrained(worker, Now())); }
  void Undrain(WorkerId worker) { Perform(table_.OnUndrained(worker, Now())); }

  // ---- Control: a stream that lasts from registration to loss.

  WorkerId Register(const std::string& name, std::uint32_t slots, std::uint64_t incarnation,
                    SimWorkerPort& port, const Link& control);
  void OnBegun(JobId job, Epoch epoch, Pid pid) { Perform(table_.OnBegun(job, epoch, pid, Now())); }
  void OnExited(JobId job, Epoch epoch, Pid pid, const ProcessEnd& end) {
    Perform(table_.OnExited(job, epoch, pid, end, Now()));
  }
  void OnCleared(JobId job, Epoch epoch, WorkerId worker) {
    Perform(table_.OnCleared(job, epoch, worker, Now()));
  }

  // ---- Frames.

  void OnHello(WorkerId worker, std::uint64_t incarnation, const Link& link);
  void OnHeartbeat(WorkerId worker) { leases_.OnRenewed(worker, loop_.now_ns()); }
  void OnBeginFrame(WorkerId worker, JobId job, Epoch epoch, std::uint32_t processes);
  void OnArrive(WorkerId worker, JobId job, Epoch epoch, const std::vector<std::byte>& payload);

 private:
  struct Worker {
    std::string name;
    std::uint64_t incarnation;
    SimWorkerPort* port;
    Link control;
    Link frames;
  };
  struct Running {
    Epoch epoch;
    Barrier barrier;
  };

  Moment Now() const { return {.now_ns = loop_.now_ns(), .unix_ms = 0}; }
  void Perform(JobOrders orders);
  void Start(const StartOrder& order);
  void Write(JobTransition transition);
  void OnWritten();
  const JobRequest& RequestOf(const JobRecord& record) const {
    return journal_.specs.at(record.spec);
  }
  void CheckOrder(const JobRecord& placed) const;
  void Tick();
  void Lose(WorkerId worker, const std::string& reason);
  Running* Lookup(JobId job, Epoch epoch);
  void SendRelease(JobId job, const Running& running, std::size_t host);
  void Control(WorkerId worker, std::function<void(SimWorkerPort&)> say);
  void Frames(WorkerId worker, std::function<void(SimWorkerPort&)> say);

  SimLoop& loop_;
  SimOracle& oracle_;
  SimJournal& journal_;
  JobTable table_;
  Leases leases_{kLeaseLimits};
  std::map<WorkerId, Worker> workers_;
  std::map<JobId, Running> running_;
  std::multimap<JobId, OnJob> submissions_;
  std::deque<JobTransition> writing_;
  std::uint32_t last_worker_;
  bool dead_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_COORDINATOR_H_
