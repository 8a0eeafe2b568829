#include "coordinator/core/running_epoch.h"

#include <algorithm>
#include <utility>

namespace bspnow::coordinator {

RunningEpoch::RunningEpoch(Epoch number, EpochPlan plan)
    : epoch(number),
      barrier(BarrierPlan{.nprocs = plan.nprocs,
                          .hosts = std::move(plan.hosts),
                          .participants = plan.participants,
                          .origin = plan.origin,
                          .direct = plan.direct}),
      stats(std::make_shared<SuperstepStats>(
          SuperstepStats::Start{.totals = plan.totals,
                                .repeats = plan.participants != 0 ? 1u : 0u,
                                .adopted = plan.origin == EpochOrigin::kAdopted,
                                .recorders = plan.recorders})),
      first_superstep(plan.first_superstep),
      superstep(plan.first_superstep),
      supersteps_before(plan.origin == EpochOrigin::kAdopted ? 0
                        : plan.participants != 0             ? Value(plan.first_superstep)
                                                             : plan.totals.supersteps()),
      adopted(plan.origin == EpochOrigin::kAdopted) {
  if (plan.participants != 0) stats->SetProcesses(plan.participants);
}

void RunningEpoch::OnResumed(Superstep at) {
  first_superstep = Superstep{Value(at) - 1};
  superstep = std::max(superstep, first_superstep);
  supersteps_before = Value(at);
}

void RunningEpoch::OnPutBack() {
  barrier.OnResumed();
  supersteps_before = Value(first_superstep);
  // Another host has told, and pid 0's may have reported since: what it reported is no start.
  if (std::exchange(put_back, true)) return;
  stats = std::make_shared<SuperstepStats>(SuperstepStats::Start{
      .totals = stats->totals(), .repeats = 1, .adopted = true, .recorders = stats->recorders()});
}

}  // namespace bspnow::coordinator
