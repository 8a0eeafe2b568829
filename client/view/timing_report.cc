#include "client/view/timing_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

namespace bspnow::client {
namespace {

using nlohmann::json;

constexpr double kSecondsPerNs = 1e-9;

double SecondsOf(std::uint64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

std::string Seconds(double s) {
  if (s >= 1) return absl::StrFormat("%.3f s", s);
  if (s >= 1e-3) return absl::StrFormat("%.3f ms", s * 1e3);
  return absl::StrFormat("%.3f us", s * 1e6);
}

std::string Bytes(std::uint64_t count) {
  const auto bytes = static_cast<double>(count);
  if (bytes >= 1e9) return absl::StrFormat("%.3f GB", bytes * 1e-9);
  if (bytes >= 1e6) return absl::StrFormat("%.3f MB", bytes * 1e-6);
  if (bytes >= 1e3) return absl::StrFormat("%.3f kB", bytes * 1e-3);
  return absl::StrFormat("%.0f bytes", bytes);
}

std::string PlusMinus(double error, double value) {
  return absl::StrFormat(" +- %.0f %%", 100 * error / value);
}

std::string G(const proto::CostFit& fit) {
  if (!fit.has_g_ns_per_byte()) return "-";
  return absl::StrFormat("%.3f ns", fit.g_ns_per_byte()) +
         PlusMinus(fit.g_error_ns_per_byte(), fit.g_ns_per_byte());
}

std::string L(const proto::CostFit& fit) {
  if (!fit.has_l_ns()) return "-";
  return Seconds(fit.l_ns() * kSecondsPerNs) + PlusMinus(fit.l_error_ns(), fit.l_ns());
}

// Of a process on average; they add up to 100.
std::string Shares(const proto::JobTotals& t) {
  if (t.total_ns() == 0) return "";
  const auto percent = [all = static_cast<double>(t.total_ns())](std::uint64_t ns) {
    return 100 * static_cast<double>(ns) / all;
  };
  return absl::StrFormat(
      "  of a process's time %.1f %% computing, %.1f %% waiting for the last, %.1f %% from its"
      " arrival to the release, %.1f %% in the exchange\n",
      percent(t.compute_ns()), percent(t.waiting_ns()), percent(t.release_ns()),
      percent(t.exchange_ns()));
}

std::string Prediction(const proto::JobTotals& t) {
  if (t.predicted_ns() == 0) return "";
  const double off = static_cast<double>(t.predicted_ns()) / static_cast<double>(t.total_ns()) - 1;
  return absl::StrFormat("  w + h*g + l a superstep: %s, %.1f %% %s than measured\n",
                         Seconds(SecondsOf(t.predicted_ns())), 100 * (off < 0 ? -off : off),
                         off < 0 ? "less" : "more");
}

std::string Imbalance(const proto::JobTotals& t) {
  if (t.imbalance() == 0 || t.stragglers().empty()) return "";
  const proto::Straggler& first = t.stragglers(0);
  return absl::StrFormat(
      "  imbalance %.2f, w by what a process computes on average; most for pid %d%s: %s in %d"
      " supersteps\n",
      t.imbalance(), first.pid(), first.node().empty() ? "" : absl::StrCat(" on ", first.node()),
      Seconds(SecondsOf(first.cost_ns())), first.supersteps());
}

std::string Unmeasured(const proto::JobTotals& t) {
  if (t.unmeasured() == 0) return "";
  return absl::StrFormat(
      "  %d of the supersteps are in no sum: what they took was lost with a node or a "
      "coordinator\n",
      t.unmeasured());
}

std::string LeftOut(const proto::JobTotals& t) {
  if (t.group_supersteps() == 0) return "";
  return absl::StrFormat(
      "  left out of h and the supersteps: groups, whose members ended %d supersteps with %d puts,"
      " gets and messages, %s; of the computing %s were in the calls that ended them\n",
      t.group_supersteps(), t.group_messages(), Bytes(t.group_bytes_out()),
      Seconds(SecondsOf(t.group_sync_ns())));
}

json GroupsJson(const proto::JobTotals& t) {
  return {{"supersteps", t.group_supersteps()}, {"sync_ns", t.group_sync_ns()},
          {"bytes_out", t.group_bytes_out()},   {"bytes_in", t.group_bytes_in()},
          {"messages", t.group_messages()},     {"messages_in", t.group_messages_in()}};
}

json Stragglers(const proto::JobTotals& t) {
  json list = json::array();
  for (const proto::Straggler& straggler : t.stragglers())
    list.push_back({{"pid", straggler.pid()},
                    {"node", straggler.node().empty() ? json() : json(straggler.node())},
                    {"supersteps", straggler.supersteps()},
                    {"cost_ns", straggler.cost_ns()}});
  return list;
}

json Classes(const proto::JobTotals& t) {
  json list = json::array();
  for (const proto::BeyondClass& of : t.beyond())
    list.push_back({{"supersteps", of.supersteps()},
                    {"h_bytes", of.h_bytes()},
                    {"median_ns", of.median_ns()},
                    {"spread_ns", of.spread_ns()}});
  return list;
}

}  // namespace

std::string TimingAsText(const proto::JobTotals& t) {
  if (t.processes() == 0) return "bsprun: no superstep was run\n";
  return "bsprun: " + CostsAsText(t);
}

std::string CostsAsText(const proto::JobTotals& t) {
  return absl::StrFormat(
             "%d supersteps on %d processes in %s, %d puts, gets and messages, %s\n"
             "  w  %-18s computing: the slowest process of each superstep, summed\n"
             "  h  %-18s the most that a process sent or received in each superstep, summed\n"
             "  g  %-18s a byte of h, fitted to what supersteps take beyond w\n"
             "  l  %-18s a superstep, fitted likewise\n",
             t.supersteps(), t.processes(), Seconds(SecondsOf(t.total_ns())), t.messages(),
             Bytes(t.bytes_out()), Seconds(SecondsOf(t.w_ns())), Bytes(t.h_bytes()), G(t.fit()),
             L(t.fit())) +
         Shares(t) + Prediction(t) + Imbalance(t) + Unmeasured(t) + LeftOut(t);
}

json TotalsJson(const proto::JobTotals& t) {
  const proto::CostFit& fit = t.fit();
  return {
      {"processes", t.processes()},
      {"supersteps", t.supersteps()},
      {"silent_supersteps", t.silent()},
      {"unmeasured_supersteps", t.unmeasured()},
      {"total_ns", t.total_ns()},
      {"compute_ns", t.compute_ns()},
      {"waiting_ns", t.waiting_ns()},
      {"release_ns", t.release_ns()},
      {"wait_ns", t.wait_ns()},
      {"exchange_ns", t.exchange_ns()},
      {"w_ns", t.w_ns()},
      {"h_bytes", t.h_bytes()},
      {"h_out_bytes", t.h_out_bytes()},
      {"h_in_bytes", t.h_in_bytes()},
      {"bytes_out", t.bytes_out()},
      {"bytes_in", t.bytes_in()},
      {"messages", t.messages()},
      {"messages_in", t.messages_in()},
      {"groups", GroupsJson(t)},
      {"beyond_ns", t.beyond_ns()},
      {"g_ns_per_byte", fit.has_g_ns_per_byte() ? json(fit.g_ns_per_byte()) : json()},
      {"g_error_ns_per_byte", fit.has_g_ns_per_byte() ? json(fit.g_error_ns_per_byte()) : json()},
      {"l_ns", fit.has_l_ns() ? json(fit.l_ns()) : json()},
      {"l_error_ns", fit.has_l_ns() ? json(fit.l_error_ns()) : json()},
      {"predicted_ns", t.predicted_ns() == 0 ? json() : json(t.predicted_ns())},
      {"imbalance", t.imbalance() != 0 ? json(t.imbalance()) : json()},
      {"stragglers", Stragglers(t)},
      {"beyond", Classes(t)}};
}

std::string TimingAsJson(const proto::JobTotals& t) {
  return TotalsJson(t).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace bspnow::client
