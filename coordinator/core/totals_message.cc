#include "coordinator/core/totals_message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "base/beyond_class.h"
#include "base/cost_fit.h"

namespace bspnow::coordinator {
namespace {

/// A member of SuperstepTotals and the field of the message that has it.
struct Sum {
  std::uint64_t SuperstepTotals::*member;
  std::uint64_t (proto::JobTotals::*get)() const;
  void (proto::JobTotals::*set)(std::uint64_t);
};

using Totals = SuperstepTotals;
using Message = proto::JobTotals;

constexpr Sum kCounts[] = {
    {&Totals::supersteps, &Message::supersteps, &Message::set_supersteps},
    {&Totals::w_ns, &Message::w_ns, &Message::set_w_ns},
    {&Totals::h_bytes, &Message::h_bytes, &Message::set_h_bytes},
    {&Totals::h_out_bytes, &Message::h_out_bytes, &Message::set_h_out_bytes},
    {&Totals::h_in_bytes, &Message::h_in_bytes, &Message::set_h_in_bytes},
    {&Totals::bytes_out, &Message::bytes_out, &Message::set_bytes_out},
    {&Totals::bytes_in, &Message::bytes_in, &Message::set_bytes_in},
    {&Totals::messages_out, &Message::messages, &Message::set_messages},
    {&Totals::messages_in, &Message::messages_in, &Message::set_messages_in},
    {&Totals::group_supersteps, &Message::group_supersteps, &Message::set_group_supersteps},
    {&Totals::group_bytes_out, &Message::group_bytes_out, &Message::set_group_bytes_out},
    {&Totals::group_bytes_in, &Message::group_bytes_in, &Message::set_group_bytes_in},
    {&Totals::group_messages_out, &Message::group_messages, &Message::set_group_messages},
    {&Totals::group_messages_in, &Message::group_messages_in, &Message::set_group_messages_in},
};

/// Of all processes; in the message of one on average.
constexpr Sum kTimes[] = {
    {&Totals::compute_ns, &Message::compute_ns, &Message::set_compute_ns},
    {&Totals::waiting_ns, &Message::waiting_ns, &Message::set_waiting_ns},
    {&Totals::release_ns, &Message::release_ns, &Message::set_release_ns},
    {&Totals::exchange_ns, &Message::exchange_ns, &Message::set_exchange_ns},
    {&Totals::group_sync_ns, &Message::group_sync_ns, &Message::set_group_sync_ns},
};
static_assert(std::size(kCounts) + std::size(kTimes) == std::size(kSumsOfTotals));

/// What processes have written may be anything, and a double no number at all.
std::uint64_t WholeNs(double ns) {
  return ns > 0 ? static_cast<std::uint64_t>(std::min(ns, 1e18) + 0.5) : 0;
}

void AddFit(const CostFit& fit, proto::JobTotals& message) {
  proto::CostFit& to = *message.mutable_fit();
  if (fit.g_ns_per_byte) {
    to.set_g_ns_per_byte(fit.g_ns_per_byte->value);
    to.set_g_error_ns_per_byte(fit.g_ns_per_byte->error);
  }
  if (!fit.l_ns) return;
  to.set_l_ns(fit.l_ns->value);
  to.set_l_error_ns(fit.l_ns->error);
  message.set_l_ns(WholeNs(fit.l_ns->value));
}

/// Each that was measured is in a class.
std::uint64_t Measured(const SuperstepTotals& settled) {
  std::uint64_t supersteps = 0;
  for (const BeyondClass& of : settled.beyond) supersteps += of.supersteps;
  return supersteps;
}

// Nothing is predicted where a part of it is not known.
std::uint64_t PredictedNs(const CostFit& fit, const SuperstepTotals& settled) {
  if (settled.supersteps == 0 || !fit.l_ns || (settled.h_bytes != 0 && !fit.g_ns_per_byte))
    return 0;
  const double g = fit.g_ns_per_byte ? fit.g_ns_per_byte->value : 0;
  const double ns = static_cast<double>(settled.w_ns) + g * static_cast<double>(settled.h_bytes) +
                    fit.l_ns->value * static_cast<double>(Measured(settled));
  return WholeNs(ns);
}

void AddStragglers(const SuperstepTotals& totals, proto::JobTotals& message) {
  std::array<StragglerCount, SuperstepTotals::kStragglers> sorted = OwnCounts(totals);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.cost_ns > b.cost_ns; });
  for (const StragglerCount& listed : sorted) {
    if (listed.supersteps == 0) continue;
    proto::Straggler& straggler = *message.add_stragglers();
    straggler.set_pid(listed.pid);
    straggler.set_supersteps(listed.supersteps);
    straggler.set_cost_ns(listed.cost_ns);
  }
}

void AddClasses(const SuperstepTotals& totals, proto::JobTotals& message) {
  for (const BeyondClass& of : totals.beyond) {
    if (of.supersteps == 0) continue;
    proto::BeyondClass& to = *message.add_beyond();
    to.set_supersteps(of.supersteps);
    to.set_h_bytes(of.h_bytes);
    to.set_median_ns(of.median_ns);
    to.set_spread_ns(of.spread_ns);
  }
}

}  // namespace

proto::JobTotals TotalsMessage(const SuperstepTotals& totals, std::uint32_t processes) {
  SuperstepTotals settled = totals;
  for (BeyondClass& of : settled.beyond) Settle(of);
  const std::uint64_t p = std::max(processes, 1u);
  proto::JobTotals message;
  message.set_processes(processes);
  for (const Sum& sum : kCounts) (message.*sum.set)(totals.*sum.member);
  for (const Sum& sum : kTimes) (message.*sum.set)(totals.*sum.member / p);
  message.set_wait_ns(message.waiting_ns() + message.release_ns());
  message.set_total_ns(message.compute_ns() + message.wait_ns() + message.exchange_ns());
  message.set_beyond_ns(message.total_ns() - std::min(message.total_ns(), totals.w_ns));
  message.set_silent(settled.beyond[0].supersteps);
  if (message.compute_ns() != 0)
    message.set_imbalance(static_cast<double>(totals.w_ns) /
                          static_cast<double>(message.compute_ns()));
  const CostFit fit = FitCost(settled.beyond);
  AddFit(fit, message);
  message.set_predicted_ns(PredictedNs(fit, settled));
  message.set_unmeasured(totals.supersteps - std::min(Measured(settled), totals.supersteps));
  AddStragglers(totals, message);
  AddClasses(settled, message);
  return message;
}

SuperstepTotals TotalsFrom(const proto::JobTotals& message) {
  SuperstepTotals totals{};
  const std::uint64_t p = std::max(message.processes(), 1u);
  for (const Sum& sum : kCounts) totals.*sum.member = (message.*sum.get)();
  for (const Sum& sum : kTimes) totals.*sum.member = (message.*sum.get)() * p;
  // An older version knew only of all that passed in the barrier.
  totals.release_ns = (message.wait_ns() - std::min(message.wait_ns(), message.waiting_ns())) * p;
  for (const proto::BeyondClass& of : message.beyond()) {
    if (of.supersteps() == 0) continue;
    BeyondClass& to = totals.beyond[ClassOf(of.h_bytes() / of.supersteps())];
    to.h_bytes += of.h_bytes();
    AddBatch(of.supersteps(), of.median_ns(), of.spread_ns(), to);
  }
  for (const proto::Straggler& straggler : message.stragglers())
    AddStraggler({.pid = straggler.pid(),
                  .inherited = 0,
                  .supersteps = straggler.supersteps(),
                  .cost_ns = straggler.cost_ns()},
                 totals);
  return totals;
}

}  // namespace bspnow::coordinator
