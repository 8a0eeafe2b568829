#include "client/profile/cost_model.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "client/profile/job_profile.h"

namespace bspnow::client {
namespace {

constexpr double kNsPerUs = 1e3;
constexpr double kNsMax = 1e15;  // Of l, or of g a byte: 11 days.
constexpr std::uint64_t kMessageBytesMax = std::uint64_t{1} << 40;

constexpr char kParameters[] =
    "processors, how much faster each computes than here, ns a byte, us"
    " a barrier";

// What is not a number fails all comparisons.
bool TakeRate(const std::string& text, Machine& machine) {
  return absl::SimpleAtod(text, &machine.rate) && machine.rate > 0 && std::isfinite(machine.rate);
}

bool TakeG(const std::string& text, Machine& machine) {
  return absl::SimpleAtod(text, &machine.g_ns_per_byte) && machine.g_ns_per_byte >= 0 &&
         machine.g_ns_per_byte <= kNsMax;
}

bool TakeL(const std::string& text, Machine& machine) {
  double l_us = 0;
  if (!absl::SimpleAtod(text, &l_us) || !(l_us >= 0 && l_us * kNsPerUs <= kNsMax)) return false;
  machine.l_ns = l_us * kNsPerUs;
  return true;
}

bool TakeProcessors(const std::string& text, Machine& machine) {
  return absl::SimpleAtoi(text, &machine.p) && machine.p > 0;
}

bool TakeBytes(const std::string& text, std::uint64_t& bytes) {
  return absl::SimpleAtoi(text, &bytes) && bytes <= kMessageBytesMax;
}

bool TakeParameter(const std::string& name, const std::string& value, Simulation& simulation) {
  if (name == "p") return TakeProcessors(value, simulation.machine);
  if (name == "r") return TakeRate(value, simulation.machine);
  if (name == "g") return TakeG(value, simulation.machine);
  if (name == "l") return TakeL(value, simulation.machine);
  if (name == "n12") return TakeBytes(value, simulation.half_bytes);
  if (name == "b") return TakeBytes(value, simulation.block_bytes);
  if (name != "w" || value != "0") return false;
  simulation.computing_counts = false;
  return true;
}

absl::Status NoSimulation(const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(
      text,
      " is no machine; write g=,l= and what you want of p=,r=,n12=,b=,w=0, each once, as in"
      " p=16,g=0.8,l=25: ",
      kParameters,
      "; n12 and b in bytes; w=0: computing costs"
      " nothing"));
}

// The time is that of the model: w + h g + l.
void Simulate(const Machine& machine, double computing, SuperstepFigures& figures) {
  figures.compute_ns *= computing;
  figures.w_ns *= computing;
  figures.wait_ns = figures.w_ns - figures.compute_ns;
  figures.release_ns = static_cast<double>(figures.supersteps) * machine.l_ns;
  figures.exchange_ns = figures.h_bytes * machine.g_ns_per_byte;
}

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
  if (parts.size() != 4 || !TakeProcessors(parts[0], machine) || !TakeRate(parts[1], machine) ||
      !TakeG(parts[2], machine) || !TakeL(parts[3], machine)) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, " is no machine; write p,r,g,l as in 16,1.5,0.8,25: ", kParameters));
  }
  return machine;
}

absl::StatusOr<Simulation> ParseSimulation(const std::string& text) {
  Simulation simulation{.machine = {.p = 0, .rate = 1, .g_ns_per_byte = 0, .l_ns = 0}};
  std::set<std::string> given;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<std::string, std::string> words = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (!given.insert(words.first).second || !TakeParameter(words.first, words.second, simulation))
      return NoSimulation(text);
  }
  if (!given.contains("g") || !given.contains("l")) return NoSimulation(text);
  return simulation;
}

// w and h of a column may be of several supersteps, and larger than any process's sums.
void Simulate(const Simulation& simulation, JobProfile& profile) {
  const Machine& machine = simulation.machine;
  const double computing = simulation.computing_counts ? 1 / machine.rate : 0;
  profile.simulation = simulation;
  profile.simulation->machine.p = profile.p;
  profile.model = {.g_ns_per_byte = machine.g_ns_per_byte, .l_ns = machine.l_ns};
  profile.all = {};
  double start_ns = 0;
  for (Column& column : profile.columns) {
    Simulate(machine, computing, column.all);
    column.start_ns = start_ns;
    start_ns += column.all.time_ns();
    for (ProcessFigures& of : column.of) {
      of.compute_ns *= computing;
      of.wait_ns = column.all.w_ns - of.compute_ns;
      of.release_ns = column.all.release_ns;
      of.exchange_ns = column.all.exchange_ns;
    }
    AddTo(profile.all, column.all);
  }
  for (SyncCall& call : profile.calls) Simulate(machine, computing, call.all);
  // Who waited in a group waited for its turn.
  const auto forget_times = [](SuperstepFigures& of) {
    of.wait_ns = of.release_ns = of.exchange_ns = 0;
  };
  for (SyncCall& call : profile.group_calls) forget_times(call.all);
  forget_times(profile.groups);
}

std::string CostSignature(const SuperstepFigures& all) {
  return absl::StrFormat("%.0f ns + %.0f g + %d l", all.w_ns, all.h_bytes, all.supersteps);
}

absl::StatusOr<MachinePrediction> PredictOn(const Machine& machine, const JobProfile& profile) {
  const std::size_t processes = profile.pids.size();
  if (machine.p > processes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the profile is of ", processes, " processes; with ", machine.p,
                     " the program would compute and send something else: run it with that many"));
  }
  // A column of several supersteps has only the sums of each process. The slowest of every
  // superstep, which the column has as a whole, take longer than any of these sums; a processor
  // with several processes has at least that much to do.
  const std::size_t on_each = (processes + machine.p - 1) / machine.p;
  MachinePrediction prediction{};
  for (const Column& column : profile.columns) {
    SuperstepFigures largest = column.all;
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
    prediction.w_ns += largest.w_ns / machine.rate;
    prediction.h_bytes += largest.h_bytes;
    prediction.total_ns += largest.w_ns / machine.rate + largest.h_bytes * machine.g_ns_per_byte +
                           static_cast<double>(column.all.supersteps) * machine.l_ns;
  }
  return prediction;
}

}  // namespace bspnow::client
