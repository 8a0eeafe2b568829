#include "client/profile/profile_table.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <numeric>

#include "client/view/quantities.h"
#include "client/view/text_table.h"

namespace bspnow::client {
namespace {

/// Indices of them.
std::vector<std::size_t> ByCost(const std::vector<SyncCall>& calls) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&calls](std::size_t a, std::size_t b) {
    return calls[a].all.time_ns() > calls[b].all.time_ns();
  });
  return order;
}

std::string OffText(double time_ns, const std::optional<double>& predicted) {
  if (!predicted || *predicted <= 0) return "-";
  return absl::StrFormat("%+.1f %%", 100 * (time_ns / *predicted - 1));
}

std::string PredictionText(const Prediction& prediction) {
  const Machine& m = prediction.machine;
  return absl::StrFormat(
      "%s on %d processors, each %.3g times as fast as here, g = %.3g ns a byte, l = %s: w %s, h "
      "%s",
      NsText(prediction.there.total_ns), m.p, m.rate, m.g_ns_per_byte, NsText(m.l_ns),
      NsText(prediction.there.w_ns), BytesText(prediction.there.h_bytes));
}

constexpr std::size_t kSuperstepRowsMax = 24;

std::string ShareText(const JobProfile& profile, const SuperstepFigures& figures) {
  return absl::StrFormat("%.1f %%", 100 * figures.time_ns() / std::max(1.0, profile.all.time_ns()));
}

std::string WText(const JobProfile& profile) {
  const std::string w = NsText(profile.all.w_ns);
  if (!profile.simulation) return w + ", computing of the slowest process";
  if (!profile.simulation->computing_counts) return w + ", computing was not counted";
  const double rate = profile.simulation->machine.rate;
  return absl::StrCat(w, ", computing of the slowest process",
                      rate == 1 ? "" : absl::StrFormat(", %.3g times as fast as here", rate));
}

std::string HText(const JobProfile& profile) {
  std::string h = BytesText(profile.all.h_bytes) + ", the most that a process sent or received";
  if (!profile.simulation) return h;
  const Simulation& simulation = *profile.simulation;
  if (simulation.block_bytes != 0)
    absl::StrAppend(&h, "; each message at least ", simulation.block_bytes, " bytes (BSP*)");
  if (simulation.half_bytes != 0)
    absl::StrAppend(&h, "; each message ", simulation.half_bytes, " bytes (n1/2) longer");
  return h;
}

std::string Table(const std::vector<std::string>& headings,
                  const std::vector<std::vector<std::string>>& rows) {
  std::vector<TableColumn> columns;
  for (const std::string& heading : headings)
    columns.push_back({heading, columns.empty() ? Align::kLeft : Align::kRight});
  TextTable table(std::move(columns));
  for (const std::vector<std::string>& row : rows) {
    std::vector<TableCell> cells;
    for (const std::string& cell : row) cells.push_back({cell});
    table.AddRow(std::move(cells));
  }
  return table.Text(Colours::kOff);
}

}  // namespace

double Imbalance(const SuperstepFigures& figures) {
  return figures.compute_ns > 0 ? figures.w_ns / figures.compute_ns : 0;
}

std::string GroupsText(const JobProfile& profile) {
  const SuperstepFigures& groups = profile.groups;
  std::string text =
      absl::StrFormat("groups, whose members ended %d supersteps: %.0f messages, %s",
                      groups.supersteps, groups.messages, BytesText(groups.out_bytes));
  if (!profile.simulation)
    absl::StrAppend(&text, "; ", NsText(groups.time_ns()), " of the computing, in the calls");
  return text;
}

std::vector<Term> SumTerms(const JobProfile& profile, const std::optional<Prediction>& prediction) {
  const SuperstepFigures& all = profile.all;
  const CostModel& model = profile.model;
  const std::string g =
      model.g_ns_per_byte ? absl::StrFormat("%.3g ns a byte of h", *model.g_ns_per_byte) : "-";
  std::vector<Term> terms = {
      {profile.simulation ? "simulated" : "time",
       absl::StrCat(NsText(all.time_ns()), ", ", all.supersteps, " supersteps, ", profile.p,
                    " processes")},
      {"w", WText(profile)},
      {"h", HText(profile)},
      {"g", g},
      {"l", model.l_ns ? NsText(*model.l_ns) + " a superstep" : "-"},
      {"signature", CostSignature(all) + ", W + H g + S l of all supersteps"}};
  if (const auto predicted = PredictedNs(model, all); predicted && !profile.simulation)
    terms.push_back({"predicted", absl::StrCat(NsText(*predicted), " by w + h g + l, measured ",
                                               OffText(all.time_ns(), predicted))});
  if (profile.groups.supersteps != 0)
    terms.push_back({"left out", "of h and the supersteps: " + GroupsText(profile)});
  if (prediction) terms.push_back({"elsewhere", PredictionText(*prediction)});
  if (profile.pids.size() < profile.p)
    terms.push_back({"missing", absl::StrCat(profile.p - profile.pids.size(),
                                             " processes, lost with their nodes")});
  if (profile.supersteps_of_column > 1)
    terms.push_back(
        {"records", absl::StrCat("of ", profile.supersteps_of_column, " supersteps each, merged")});
  return terms;
}

std::vector<std::string> CallHeadings(const JobProfile& profile) {
  if (profile.simulation) return {"call", "supersteps", "time", "share", "w", "h", "imbalance"};
  return {"call", "supersteps", "time", "share", "w", "h", "predicted", "off", "imbalance"};
}

std::vector<std::vector<std::string>> CallRows(const JobProfile& profile) {
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : ByCost(profile.calls)) {
    const SyncCall& call = profile.calls[i];
    const double time_ns = call.all.time_ns();
    const auto predicted = PredictedNs(profile.model, call.all);
    std::vector<std::string> row = {absl::StrCat(i, "  ", call.name),
                                    absl::StrCat(call.all.supersteps),
                                    NsText(time_ns),
                                    ShareText(profile, call.all),
                                    NsText(call.all.w_ns),
                                    BytesText(call.all.h_bytes)};
    if (!profile.simulation) {
      row.push_back(predicted ? NsText(*predicted) : "-");
      row.push_back(OffText(time_ns, predicted));
    }
    row.push_back(absl::StrFormat("%.2f", Imbalance(call.all)));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> GroupCallHeadings(const JobProfile& profile) {
  if (profile.simulation) return {"call of groups", "supersteps", "messages", "out"};
  return {"call of groups", "supersteps", "messages", "out", "time in it", "share"};
}

std::vector<std::vector<std::string>> GroupCallRows(const JobProfile& profile) {
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : ByCost(profile.group_calls)) {
    const SuperstepFigures& all = profile.group_calls[i].all;
    std::vector<std::string> row = {profile.group_calls[i].name, absl::StrCat(all.supersteps),
                                    absl::StrFormat("%.0f", all.messages),
                                    BytesText(all.out_bytes)};
    if (!profile.simulation) {
      row.push_back(NsText(all.time_ns()));
      row.push_back(ShareText(profile, all));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> SuperstepHeadings() {
  return {"superstep", "call", "time", "share", "w", "h"};
}

std::vector<std::vector<std::string>> SuperstepRows(const JobProfile& profile) {
  std::vector<std::vector<std::string>> rows;
  for (const Column& column : Condense(profile.columns, kSuperstepRowsMax)) {
    const std::uint64_t last = column.first + column.all.supersteps - 1;
    rows.push_back(
        {last == column.first ? absl::StrCat(last) : absl::StrCat(column.first, "-", last),
         column.call == kSeveralCalls ? "-" : absl::StrCat(column.call),
         NsText(column.all.time_ns()), ShareText(profile, column.all), NsText(column.all.w_ns),
         BytesText(column.all.h_bytes)});
  }
  return rows;
}

std::string ProfileTable(const JobProfile& profile, const std::optional<Prediction>& prediction) {
  std::string text = profile.title + "\n";
  for (const Term& term : SumTerms(profile, prediction))
    absl::StrAppendFormat(&text, "  %-10s %s\n", term.word, term.meaning);
  absl::StrAppend(&text, "\n", Table(CallHeadings(profile), CallRows(profile)));
  if (!profile.group_calls.empty())
    absl::StrAppend(&text, "\n", Table(GroupCallHeadings(profile), GroupCallRows(profile)));
  if (profile.simulation)
    absl::StrAppend(&text, "\n", Table(SuperstepHeadings(), SuperstepRows(profile)));
  return text;
}

}  // namespace bspnow::client
