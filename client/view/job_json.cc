#include "client/view/job_json.h"

#include "client/view/barrier_view.h"
#include "client/view/checkpoint_view.h"
#include "client/view/job_view.h"
#include "client/view/timing_report.h"

namespace bspnow::client {
namespace {

using nlohmann::json;

// 0 stands for what has not happened.
json TimeOrNull(std::int64_t unix_ms) { return unix_ms == 0 ? json() : json(unix_ms); }

template <typename List>
json ListJson(const List& list) {
  json array = json::array();
  for (const auto& item : list) array.push_back(item);
  return array;
}

json PlacementJson(const proto::Job& job) {
  json places = json::array();
  for (const proto::Placement& place : job.placement()) {
    places.push_back({{"node", place.node()},
                      {"pids", ListJson(place.pids())},
                      {"os_pids", ListJson(place.os_pids())}});
  }
  return places;
}

json AfterJson(const proto::JobSpec& spec) {
  json list = json::array();
  for (const proto::AfterJob& after : spec.after())
    list.push_back({{"job", after.job()}, {"when", after.any() ? "any" : "ok"}});
  return list;
}

json BarrierWaitsJson(const proto::Job& job) {
  json waits = json::array();
  for (const proto::BarrierWait& wait : job.barrier_waits()) {
    json late = json::array();
    for (const proto::LateProcess& process : wait.late()) {
      late.push_back({{"pid", process.pid()},
                      {"os_pid", process.os_pid() == 0 ? json() : json(process.os_pid())},
                      {"state", LatenessName(static_cast<std::uint32_t>(process.lateness()))},
                      {"begun", process.begun()}});
      if (process.lateness() != proto::LATE_COUNTING) continue;
      late.back()["superstep"] = process.superstep();
      late.back()["messages_expected"] = process.messages_expected();
      late.back()["messages_here"] = process.messages_here();
    }
    waits.push_back({{"node", wait.node()},
                     {"arrived", wait.arrived()},
                     {"late_count", wait.late_count()},
                     {"for_ms", wait.for_ms()},
                     {"late", late}});
  }
  return waits;
}

}  // namespace

json JobJson(const proto::Job& job) {
  const proto::JobSpec& spec = job.spec();
  return {{"job", job.job()},
          {"name", spec.name()},
          {"user", spec.user()},
          {"state", StateName(job.state())},
          {"reason", job.reason()},
          {"files_lost", FilesLostOf(job)},
          {"exit_status", HasEnded(job) ? json(job.exit_status()) : json()},
          {"nprocs", spec.nprocs()},
          {"arguments", ListJson(spec.arguments())},
          {"directory", spec.directory()},
          {"output", spec.output()},
          {"priority", spec.priority()},
          {"time_limit_s", spec.time_limit_s()},
          {"memory_bytes", spec.memory_bytes()},
          {"constraints", ListJson(spec.constraints())},
          {"oversubscribe", spec.oversubscribe()},
          {"cpu", spec.cpu() == proto::CPU_COMMON ? "common" : "native"},
          {"after", AfterJson(spec)},
          {"awaits", ListJson(job.awaits())},
          {"array_job", job.has_array() ? json(job.array().job()) : json()},
          {"array_index", job.has_array() ? json(job.array().index()) : json()},
          {"checkpoint_policy", PolicyText(spec.checkpoints())},
          {"epoch", job.epoch()},
          {"placement", PlacementJson(job)},
          {"totals", TotalsJson(job.totals())},
          {"barrier_waits", BarrierWaitsJson(job)},
          {"submitted_unix_ms", TimeOrNull(job.submitted_unix_ms())},
          {"started_unix_ms", TimeOrNull(job.started_unix_ms())},
          {"run_ms", job.run_ms()},
          {"ended_unix_ms", TimeOrNull(job.ended_unix_ms())},
          {"output_bytes", job.output_bytes()},
          {"cpu_ns", job.cpu_ns()},
          {"peak_memory_bytes", job.peak_memory_bytes()},
          {"checkpoints", CheckpointsJson(job.checkpoints())},
          {"losses", LossesJson(job)},
          {"restarts", job.restarts()}};
}

json NodeJson(const proto::Node& node) {
  json unreachable = json::array();
  for (const proto::UnreachableNode& peer : node.unreachable())
    unreachable.push_back({{"name", peer.name()}, {"reason", peer.reason()}});
  const proto::NodeSpec& spec = node.spec();
  json labels = json::object();
  for (const auto& [name, value] : spec.labels()) labels[name] = value;
  return {{"name", spec.name()},
          {"state", StateName(node.state())},
          {"slots", spec.slots()},
          {"slots_used", node.slots_used()},
          {"load", node.load()},
          {"memory_bytes", spec.memory_bytes()},
          {"flops", spec.flops()},
          {"labels", labels},
          {"accounts", spec.accounts()},
          {"limits", spec.limits()},
          {"cpu_features", ListJson(spec.cpu_features())},
          {"address", node.address()},
          {"jobs", ListJson(node.jobs())},
          {"lease_age_ms", node.lease_age_ms()},
          {"unknown_jobs", ListJson(node.unknown_jobs())},
          {"unreachable", unreachable},
          {"reason", node.reason()},
          {"version", spec.version()}};
}

json JobsJson(const std::vector<proto::Job>& jobs) {
  json array = json::array();
  for (const proto::Job& job : jobs) array.push_back(JobJson(job));
  return array;
}

json DamagedJobJson(std::uint64_t job) {
  return {{"job", job}, {"state", "damaged"}, {"reason", "its record in the history is damaged"}};
}

json NodesJson(const proto::ListNodesReply& nodes) {
  json array = json::array();
  for (const proto::Node& node : nodes.nodes()) array.push_back(NodeJson(node));
  return array;
}

json LogJson(const proto::LogLine& line) {
  return {{"pid", line.of_launcher() ? json() : json(line.pid())},
          {"stream", line.stream() == proto::STDERR ? "stderr" : "stdout"},
          {"text", line.text()}};
}

json ParametersJson(const proto::MachineParameters& parameters) {
  return {{"p", parameters.p()},
          {"r_flops", parameters.r_flops()},
          {"l_ns", parameters.l_ns()},
          {"g_shift_ns_per_byte", parameters.g_shift_ns_per_byte()},
          {"g_total_ns_per_byte", parameters.g_total_ns_per_byte()},
          {"half_bytes", parameters.half_bytes()},
          {"measured_unix_ms", TimeOrNull(parameters.measured_unix_ms())}};
}

std::string JsonText(const json& json) {
  return json.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace bspnow::client
