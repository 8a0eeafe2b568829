#include "client/profile/profile_table.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <numeric>

#include "client/view/quantities.h"
#include "client/view/text_table.h"

namespace bspnow::client {
namespace {

/// Indices of JobProfile::calls.
std::vector<std::size_t> CallsByCost(const JobProfile& profile) {
  std::vector<std::size_t> order(profile.calls.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&profile](std::size_t a, std::size_t b) {
    return profile.calls[a].all.time_ns() > profile.calls[b].all.time_ns();
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

}  // namespace

double Imbalance(const SuperstepFigures& figures) {
  return figures.compute_ns > 0 ? figures.w_ns / figures.compute_ns : 0;
}

std::vector<Term> SumTerms(const JobProfile& profile, const std::optional<Prediction>& prediction) {
  const SuperstepFigures& all = profile.all;
  const CostModel& model = profile.model;
  const std::string g =
      model.g_ns_per_byte ? absl::StrFormat("%.3g ns a byte of h", *model.g_ns_per_byte) : "-";
  std::vector<Term> terms = {
      {"time", absl::StrCat(NsText(all.time_ns()), ", ", all.supersteps, " supersteps, ", profile.p,
                            " processes")},
      {"w", NsText(all.w_ns) + ", computing of the slowest process"},
      {"h", BytesText(all.h_bytes) + ", the most that a process sent or received"},
      {"g", g},
      {"l", model.l_ns ? NsText(*model.l_ns) + " a superstep" : "-"}};
  if (const auto predicted = PredictedNs(model, all))
    terms.push_back({"predicted", absl::StrCat(NsText(*predicted), " by w + h g + l, measured ",
                                               OffText(all.time_ns(), predicted))});
  if (prediction) terms.push_back({"elsewhere", PredictionText(*prediction)});
  if (profile.pids.size() < profile.p)
    terms.push_back({"missing", absl::StrCat(profile.p - profile.pids.size(),
                                             " processes, lost with their nodes")});
  if (profile.supersteps_of_column > 1)
    terms.push_back(
        {"records", absl::StrCat("of ", profile.supersteps_of_column, " supersteps each, merged")});
  return terms;
}

std::vector<std::string> CallHeadings() {
  return {"call", "supersteps", "time", "share", "w", "h", "predicted", "off", "imbalance"};
}

std::vector<std::vector<std::string>> CallRows(const JobProfile& profile) {
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : CallsByCost(profile)) {
    const SyncCall& call = profile.calls[i];
    const double time_ns = call.all.time_ns();
    const auto predicted = PredictedNs(profile.model, call.all);
    rows.push_back(
        {absl::StrCat(i, "  ", call.name), absl::StrCat(call.all.supersteps), NsText(time_ns),
         absl::StrFormat("%.1f %%", 100 * time_ns / std::max(1.0, profile.all.time_ns())),
         NsText(call.all.w_ns), BytesText(call.all.h_bytes), predicted ? NsText(*predicted) : "-",
         OffText(time_ns, predicted), absl::StrFormat("%.2f", Imbalance(call.all))});
  }
  return rows;
}

std::string ProfileTable(const JobProfile& profile, const std::optional<Prediction>& prediction) {
  std::string text = profile.title + "\n";
  for (const Term& term : SumTerms(profile, prediction))
    absl::StrAppendFormat(&text, "  %-10s %s\n", term.word, term.meaning);
  std::vector<TableColumn> columns;
  for (const std::string& heading : CallHeadings())
    columns.push_back({heading, columns.empty() ? Align::kLeft : Align::kRight});
  TextTable table(std::move(columns));
  for (const std::vector<std::string>& row : CallRows(profile)) {
    std::vector<TableCell> cells;
    for (const std::string& cell : row) cells.push_back({cell});
    table.AddRow(std::move(cells));
  }
  return text + "\n" + table.Text(Colours::kOff);
}

}  // namespace bspnow::client
