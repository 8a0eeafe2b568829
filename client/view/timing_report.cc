#include "client/view/timing_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <optional>

namespace bspnow::client {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr std::uint64_t kBytesForG = 100'000;  // With less the barriers' noise would pass for g.

/// The cost model's parameters as this job shows them (Q&A about BSP, section 4). They add up:
/// time = w + h*g + supersteps * l.
struct Costs {
  double total_s;
  double w_s;
  std::optional<double> l_s;           ///< Of a superstep that communicates nothing.
  std::optional<double> g_s_per_byte;  ///< All the other time beyond w, for each byte of h.
};

Costs Derive(const proto::JobTotals& t) {
  Costs c{};
  c.total_s = static_cast<double>(t.total_ns()) * kSecondsPerNs;
  c.w_s = static_cast<double>(t.w_ns()) * kSecondsPerNs;
  if (t.silent() != 0) c.l_s = static_cast<double>(t.l_ns()) * kSecondsPerNs;
  const double beyond_s = static_cast<double>(t.beyond_ns()) * kSecondsPerNs -
                          c.l_s.value_or(0) * static_cast<double>(t.supersteps());
  if (t.h_bytes() >= kBytesForG && beyond_s > 0)
    c.g_s_per_byte = beyond_s / static_cast<double>(t.h_bytes());
  return c;
}

// Of a process on average; they add up to 100, but for what the processes' clocks differ.
std::string Shares(const proto::JobTotals& t) {
  const auto all = static_cast<double>(t.compute_ns() + t.wait_ns() + t.exchange_ns());
  if (all == 0) return "";
  const auto percent = [all](std::uint64_t ns) { return 100 * static_cast<double>(ns) / all; };
  return absl::StrFormat(
      "  of a process's time %.1f %% computing, %.1f %% at barriers, %.1f %% in the exchange\n",
      percent(t.compute_ns()), percent(t.wait_ns()), percent(t.exchange_ns()));
}

std::string Seconds(double s) {
  if (s >= 1) return absl::StrFormat("%.3f s", s);
  if (s >= 1e-3) return absl::StrFormat("%.3f ms", s * 1e3);
  return absl::StrFormat("%.3f us", s * 1e6);
}

std::string Bytes(double bytes) {
  if (bytes >= 1e9) return absl::StrFormat("%.3f GB", bytes * 1e-9);
  if (bytes >= 1e6) return absl::StrFormat("%.3f MB", bytes * 1e-6);
  if (bytes >= 1e3) return absl::StrFormat("%.3f kB", bytes * 1e-3);
  return absl::StrFormat("%.0f bytes", bytes);
}

}  // namespace

std::string TimingAsText(const proto::JobTotals& t) {
  if (t.processes() == 0) return "bsprun: no superstep was run\n";
  return "bsprun: " + CostsAsText(t);
}

std::string CostsAsText(const proto::JobTotals& t) {
  const Costs c = Derive(t);
  std::string text = absl::StrFormat(
      "%d supersteps on %d processes in %s, %d puts, gets and messages\n"
      "  w  %-12s computing: the slowest process of each superstep, summed\n"
      "  h  %-12s the most that a process sent or received in each superstep, summed\n",
      t.supersteps(), t.processes(), Seconds(c.total_s), t.messages(), Seconds(c.w_s),
      Bytes(static_cast<double>(t.h_bytes())));
  absl::StrAppendFormat(&text,
                        "  g  %-12s a byte of h: all time beyond w and l\n"
                        "  l  %-12s the barrier: the median of supersteps with h = 0\n",
                        c.g_s_per_byte ? absl::StrFormat("%.3f ns", *c.g_s_per_byte * 1e9) : "-",
                        c.l_s ? Seconds(*c.l_s) : "-");
  return text + Shares(t);
}

std::string TimingAsJson(const proto::JobTotals& t) {
  const Costs c = Derive(t);
  return absl::StrFormat(
      "{\"processes\": %d, \"supersteps\": %d, \"total_ns\": %d, \"compute_ns\": %d, "
      "\"wait_ns\": %d, \"exchange_ns\": %d, \"w_ns\": %d, \"h_bytes\": %d, "
      "\"g_ns_per_byte\": %s, \"l_ns\": %s, \"beyond_ns\": %d, \"messages\": %d}\n",
      t.processes(), t.supersteps(), t.total_ns(), t.compute_ns(), t.wait_ns(), t.exchange_ns(),
      t.w_ns(), t.h_bytes(),
      c.g_s_per_byte ? absl::StrFormat("%.6g", *c.g_s_per_byte * 1e9) : "null",
      c.l_s ? absl::StrCat(t.l_ns()) : "null", t.beyond_ns(), t.messages());
}

}  // namespace bspnow::client
