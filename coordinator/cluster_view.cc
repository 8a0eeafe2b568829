#include "coordinator/cluster_view.h"

#include <algorithm>

#include <absl/strings/str_cat.h>

namespace bspnow {

const char* PhaseName(JobPhase phase) {
  switch (phase) {
    case JobPhase::kWaiting:
      return "waiting";
    case JobPhase::kRunning:
      return "running";
    case JobPhase::kEnding:
      return "ending";
    case JobPhase::kSucceeded:
      return "succeeded";
    case JobPhase::kFailed:
      return "failed";
    case JobPhase::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

proto::JobState StateOf(JobPhase phase) {
  switch (phase) {
    case JobPhase::kWaiting:
      return proto::WAITING;
    case JobPhase::kRunning:
      return proto::RUNNING;
    case JobPhase::kEnding:
      return proto::ENDING;
    case JobPhase::kSucceeded:
      return proto::SUCCEEDED;
    case JobPhase::kFailed:
      return proto::FAILED;
    case JobPhase::kCancelled:
      return proto::CANCELLED;
  }
  return proto::JOB_STATE_UNSPECIFIED;
}

proto::JobTotals TotalsOf(const SuperstepTotals& totals) {
  proto::JobTotals message;
  message.set_supersteps(totals.supersteps);
  message.set_total_ns(totals.total_ns);
  message.set_w_ns(totals.w_ns);
  message.set_h_bytes(totals.h_bytes);
  message.set_beyond_ns(totals.beyond_ns);
  message.set_l_ns(totals.l_ns);
  message.set_silent(totals.silent);
  message.set_messages(totals.messages);
  message.set_wait_ns(totals.wait_ns);
  message.set_exchange_ns(totals.exchange_ns);
  message.set_processes(totals.processes);
  return message;
}

std::string KeptFigures(const SuperstepTotals& totals, std::uint64_t output_bytes) {
  proto::Job kept;
  *kept.mutable_totals() = TotalsOf(totals);
  kept.set_output_bytes(output_bytes);
  return kept.SerializeAsString();
}

proto::Job JobMessage(const JobRecord& record) {
  proto::Job job;
  job.ParseFromString(record.totals);  // Nothing, until SetTotals.
  job.set_job(Value(record.id));
  job.mutable_spec()->ParseFromString(record.spec);
  job.set_state(StateOf(record.phase));
  job.set_reason(record.reason);
  job.set_exit_status(record.exit_status);
  job.set_epoch(Value(record.epoch));
  for (std::size_t i = 0; i < record.shares.size(); ++i) {
    proto::Placement* placement = job.add_placement();
    if (i < record.node_names.size()) placement->set_node(record.node_names[i]);
    for (const Pid pid : record.shares[i].pids) placement->add_pids(Value(pid));
  }
  job.set_submitted_unix_ms(record.submitted_unix_ms);
  job.set_started_unix_ms(record.started_unix_ms);
  job.set_ended_unix_ms(record.ended_unix_ms);
  job.set_never_attached(record.never_attached);
  return job;
}

void Shorten(proto::Job& job) {
  job.mutable_spec()->clear_environment();
  job.mutable_spec()->clear_files();
}

proto::Node NodeMessage(const JobTable::NodeView& view, const RegisteredWorker& worker) {
  proto::Node node;
  *node.mutable_spec() = worker.registration.node();
  node.set_state(view.node->drained ? proto::NODE_DRAINED : proto::NODE_UP);
  node.set_slots_used(view.slots_used);
  node.set_load(worker.load);
  node.set_address(worker.registration.data_address());
  for (const JobId job : view.jobs) node.add_jobs(Value(job));
  return node;
}

proto::Node LostNodeMessage(const proto::RegisterRequest& registration) {
  proto::Node node;
  *node.mutable_spec() = registration.node();
  node.set_state(proto::NODE_LOST);
  node.set_address(registration.data_address());
  return node;
}

proto::StartJob StartMessage(const StartOrder& order, const proto::JobSpec& spec,
                             WorkerRoster& workers) {
  proto::StartJob start;
  start.set_job(Value(order.job));
  start.set_epoch(Value(order.epoch));
  *start.mutable_spec() = spec;
  start.set_reads_input(spec.attached());
  for (const NodeShare& share : order.hosts) {
    proto::Host* host = start.add_hosts();
    host->set_worker(Value(share.worker));
    const RegisteredWorker* worker = workers.Find(share.worker);
    if (worker != nullptr) host->set_data_address(worker->registration.data_address());
    for (const Pid pid : share.pids) host->add_pids(Value(pid));
  }
  return start;
}

ProcessEnd ProcessEndOf(const proto::ProcessExited& exited) {
  constexpr auto kLast = static_cast<std::uint32_t>(Reached::kAborted);
  static_assert(kLast == 5, "Reached names the states of runtime/link.h in their order");
  return {.reached = static_cast<Reached>(exited.reached() <= kLast ? exited.reached() : 0),
          .superstep = Superstep{exited.superstep()},
          .exit_status = exited.exit_status(),
          .signal = exited.signal()};
}

}  // namespace bspnow
