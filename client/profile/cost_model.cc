#include "client/profile/cost_model.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "client/profile/job_profile.h"

namespace bspnow::client {
namespace {

constexpr double kNsPerUs = 1e3;

}  // namespace

CostModel ModelOf(const proto::JobTotals& totals) {
  CostModel model;
  if (totals.fit().has_g_ns_per_byte()) model.g_ns_per_byte = totals.fit().g_ns_per_byte();
  if (totals.fit().has_l_ns()) model.l_ns = totals.fit().l_ns();
  return model;
}

std::optional<double> PredictedNs(const CostModel& model, const SuperstepFigures& figures) {
  if (!model.l_ns || (!model.g_ns_per_byte && figures.h_bytes > 0)) return std::nullopt;
  return figures.w_ns + figures.h_bytes * model.g_ns_per_byte.value_or(0) +
         static_cast<double>(figures.supersteps) * *model.l_ns;
}

absl::StatusOr<Machine> ParseMachine(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  Machine machine{};
  double l_us = 0;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &machine.p) || machine.p == 0 ||
      !absl::SimpleAtod(parts[1], &machine.rate) || !(machine.rate > 0) ||
      !absl::SimpleAtod(parts[2], &machine.g_ns_per_byte) || !(machine.g_ns_per_byte >= 0) ||
      !absl::SimpleAtod(parts[3], &l_us) || !(l_us >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        text,
        " is no machine; write p,r,g,l as in 16,1.5,0.8,25: processors, how much faster each"
        " computes than here, ns a byte, us a barrier"));
  }
  machine.l_ns = l_us * kNsPerUs;
  return machine;
}

absl::StatusOr<MachinePrediction> PredictOn(const Machine& machine, const JobProfile& profile) {
  const std::size_t processes = profile.pids.size();
  if (machine.p > processes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the profile is of ", processes, " processes; with ", machine.p,
                     " the program would compute and send something else: run it with that many"));
  }
  const std::size_t on_each = (processes + machine.p - 1) / machine.p;
  MachinePrediction prediction{};
  for (const Column& column : profile.columns) {
    SuperstepFigures largest = column.all;
    if (on_each > 1) {
      largest.w_ns = largest.h_bytes = 0;
      for (std::size_t first = 0; first < processes; first += on_each) {
        ProcessFigures sum;
        for (std::size_t i = first; i < std::min(first + on_each, processes); ++i) {
          sum.compute_ns += column.of[i].compute_ns;
          sum.out_bytes += column.of[i].out_bytes;
          sum.in_bytes += column.of[i].in_bytes;
        }
        largest.w_ns = std::max(largest.w_ns, sum.compute_ns);
        largest.h_bytes = std::max({largest.h_bytes, sum.out_bytes, sum.in_bytes});
      }
    }
    prediction.w_ns += largest.w_ns / machine.rate;
    prediction.h_bytes += largest.h_bytes;
    prediction.total_ns += largest.w_ns / machine.rate + largest.h_bytes * machine.g_ns_per_byte +
                           static_cast<double>(column.all.supersteps) * machine.l_ns;
  }
  return prediction;
}

}  // namespace bspnow::client
