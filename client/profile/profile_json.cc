#include "client/profile/profile_json.h"

#include "client/profile/profile_table.h"

namespace bspnow::client {
namespace {

using nlohmann::json;

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(); }

json FiguresJson(const JobProfile& profile, const SuperstepFigures& figures) {
  return {{"supersteps", figures.supersteps},
          {"time_ns", figures.time_ns()},
          {"compute_ns", figures.compute_ns},
          {"waiting_ns", figures.wait_ns},
          {"release_ns", figures.release_ns},
          {"exchange_ns", figures.exchange_ns},
          {"w_ns", figures.w_ns},
          {"h_bytes", figures.h_bytes},
          {"bytes_out", figures.out_bytes},
          {"messages", figures.messages},
          {"predicted_ns", OrNull(PredictedNs(profile.model, figures))},
          {"imbalance", Imbalance(figures)}};
}

json ColumnJson(const JobProfile& profile, const Column& column) {
  json of = json::array();
  for (std::size_t i = 0; i < column.of.size(); ++i) {
    const ProcessFigures& process = column.of[i];
    of.push_back({{"pid", profile.pids[i]},
                  {"compute_ns", process.compute_ns},
                  {"waiting_ns", process.wait_ns},
                  {"release_ns", process.release_ns},
                  {"exchange_ns", process.exchange_ns},
                  {"bytes_out", process.out_bytes},
                  {"bytes_in", process.in_bytes},
                  {"messages_out", process.out_messages},
                  {"messages_in", process.in_messages}});
  }
  json made = FiguresJson(profile, column.all);
  made["first"] = column.first;
  made["call"] = column.call == kSeveralCalls ? json() : json(column.call);
  made["saved"] = column.saved;
  made["resumed"] = column.came_back;
  made["processes"] = std::move(of);
  return made;
}

json PredictionJson(const Prediction& prediction) {
  return {{"p", prediction.machine.p},
          {"r", prediction.machine.rate},
          {"g_ns_per_byte", prediction.machine.g_ns_per_byte},
          {"l_ns", prediction.machine.l_ns},
          {"w_ns", prediction.there.w_ns},
          {"h_bytes", prediction.there.h_bytes},
          {"total_ns", prediction.there.total_ns}};
}

json SimulationJson(const Simulation& simulation) {
  return {{"p", simulation.machine.p},
          {"r", simulation.machine.rate},
          {"half_bytes", simulation.half_bytes},
          {"block_bytes", simulation.block_bytes},
          {"computing", simulation.computing_counts}};
}

// Null: the model has no time for them.
json GroupsJson(const JobProfile& profile, const SuperstepFigures& figures) {
  return {{"supersteps", figures.supersteps},
          {"sync_ns", profile.simulation ? json() : json(figures.time_ns())},
          {"bytes_out", figures.out_bytes},
          {"messages", figures.messages}};
}

}  // namespace

json ProfileJson(const JobProfile& profile, const std::optional<Prediction>& prediction) {
  json calls = json::array();
  for (const SyncCall& call : profile.calls) {
    json made = FiguresJson(profile, call.all);
    made["name"] = call.name;
    calls.push_back(std::move(made));
  }
  json group_calls = json::array();
  for (const SyncCall& call : profile.group_calls) {
    json made = GroupsJson(profile, call.all);
    made["name"] = call.name;
    group_calls.push_back(std::move(made));
  }
  json columns = json::array();
  for (const Column& column : profile.columns) columns.push_back(ColumnJson(profile, column));
  return {{"title", profile.title},
          {"processes", profile.p},
          {"g_ns_per_byte", OrNull(profile.model.g_ns_per_byte)},
          {"l_ns", OrNull(profile.model.l_ns)},
          {"totals", FiguresJson(profile, profile.all)},
          {"signature", CostSignature(profile.all)},
          {"simulation", profile.simulation ? SimulationJson(*profile.simulation) : json()},
          {"calls", std::move(calls)},
          {"groups", GroupsJson(profile, profile.groups)},
          {"group_calls", std::move(group_calls)},
          {"supersteps_of_record", profile.supersteps_of_column},
          {"records", std::move(columns)},
          {"prediction", prediction ? PredictionJson(*prediction) : json()}};
}

}  // namespace bspnow::client
