#include "base/machine_variable.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <vector>

namespace bspnow {
namespace {

constexpr char kBeginning[] = "BSP_MACHINE=";
constexpr double kMost = 1e18;  // ParseMachine of runtime/collectives takes no more.

}  // namespace

bool NamesMachine(const std::string& variable) { return absl::StartsWith(variable, kBeginning); }

std::string MachineVariable(const MachineFigures& figures) {
  std::vector<std::string> said;
  const auto say = [&said](const char* name, double value) {
    if (value >= 0 && value <= kMost)
      said.push_back(absl::StrCat(name, value));  // Not NaN, either.
  };
  say("g=", figures.g_ns_per_byte);
  say("l=", figures.l_ns);
  say("n12=", figures.half_bytes);
  say("s=", figures.s_flops);
  return said.empty() ? "" : absl::StrCat(kBeginning, absl::StrJoin(said, ","));
}

std::string MeasuredMachineVariable(const MachineFigures& figures) {
  const auto measured = [](double value) { return value > 0 ? value : -1; };
  return MachineVariable({.g_ns_per_byte = measured(figures.g_ns_per_byte),
                          .l_ns = measured(figures.l_ns),
                          .half_bytes = measured(figures.half_bytes),
                          .s_flops = measured(figures.s_flops)});
}

}  // namespace bspnow
