#include "tests/cluster/fault_plan.h"

#include <algorithm>
#include <cmath>

namespace bspnow {

FaultPlan::Step FaultPlan::Next(const FaultSettings& settings, std::size_t available) {
  if (!(settings == settings_)) {
    settings_ = settings;
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind) Draw(kind);
  }
  Step step{.bytes = available, .faulty = false, .fault = Fault::kFlip, .bit = 0};
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (settings_.mean_bytes[kind] == 0 || distance_[kind] > step.bytes) continue;
    step = {
        .bytes = distance_[kind], .faulty = true, .fault = static_cast<Fault>(kind), .bit = bit_};
  }
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    // A second fault at the same byte hits the next one.
    distance_[kind] = std::max<std::uint64_t>(distance_[kind], step.bytes + 1) - step.bytes;
  }
  if (step.faulty) Draw(static_cast<std::size_t>(step.fault));
  return step;
}

/// Exponentially distributed distances: every byte is as likely to be hit as any other.
void FaultPlan::Draw(std::size_t kind) {
  if (settings_.mean_bytes[kind] == 0) return;
  std::exponential_distribution<double> distance(1.0 /
                                                 static_cast<double>(settings_.mean_bytes[kind]));
  distance_[kind] = std::max<std::uint64_t>(1, std::llround(distance(chance_)));
  if (kind == static_cast<std::size_t>(Fault::kFlip)) bit_ = static_cast<unsigned>(chance_() % 8);
}

}  // namespace bspnow
