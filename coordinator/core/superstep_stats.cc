#include "coordinator/core/superstep_stats.h"

#include <algorithm>
#include <utility>

#include "base/superstep_times.h"

namespace bspnow::coordinator {
namespace {

// One thread writes, so that no locked instruction is needed.
template <typename T>
void Set(std::atomic<T>& counter, T value) {
  counter.store(value, std::memory_order_relaxed);
}

template <typename T>
T Get(const std::atomic<T>& counter) {
  return counter.load(std::memory_order_relaxed);
}

template <typename T>
void Add(std::atomic<T>& counter, T value) {
  Set(counter, static_cast<T>(Get(counter) + value));
}

// Of two stretches of a job each has a median; that of the whole is taken to lie between them.
void AddSilent(std::uint64_t l_ns, std::uint64_t silent, proto::JobTotals& totals) {
  const std::uint64_t all = totals.silent() + silent;
  if (all == 0) return;
  const double before = static_cast<double>(totals.silent()) / static_cast<double>(all);
  totals.set_l_ns(static_cast<std::uint64_t>(before * static_cast<double>(totals.l_ns()) +
                                             (1 - before) * static_cast<double>(l_ns) + 0.5));
  totals.set_silent(all);
}

}  // namespace

SuperstepStats::SuperstepStats(const Start& start) : start_(start), counted_from_(start.totals) {
  Store(start.totals);
}

void SuperstepStats::SetProcesses(std::uint32_t processes) { Set(processes_, processes); }

void SuperstepStats::SkipTo(std::uint64_t supersteps) {
  Set(supersteps_, std::max(Get(supersteps_), supersteps));
  counted_from_ = totals();
}

void SuperstepStats::Record(const SuperstepSums& sums) {
  const std::uint64_t p = std::max(Get(processes_), 1u);
  Add<std::uint64_t>(supersteps_, 1);
  Add(total_ns_, sums.total_ns);
  Add(compute_ns_, sums.compute_ns / p);
  Add(wait_ns_, sums.wait_ns / p);
  Add(exchange_ns_, sums.exchange_ns / p);
  Add(w_ns_, sums.w_ns);
  Add(h_bytes_, sums.h_bytes);
  Add(messages_, sums.messages);
  if (sums.h_bytes == 0) {
    const std::uint64_t of_all_ns = sums.compute_ns + sums.wait_ns + sums.exchange_ns;
    Add(silent_by_time_[DurationBucket(BeyondNs(of_all_ns, p, sums.w_ns))], 1u);
    Add<std::uint64_t>(silent_here_, 1);
  }
  SuperstepHistograms& all = *start_.recorders.of_all;
  start_.recorders.of_job->Record(sums.total_ns, 1);
  all.superstep_ns.Record(sums.total_ns, 1);
  all.computing_ns.Record(sums.compute_ns / p, 1);
  all.waiting_ns.Record(sums.wait_ns / p, 1);
  all.exchange_ns.Record(sums.exchange_ns / p, 1);
  all.h_bytes.Record(sums.h_bytes, 1);
}

void SuperstepStats::RecordProgress(const ProgressBody& progress) {
  proto::JobTotals now = start_.totals;
  now.set_supersteps(now.supersteps() + progress.supersteps -
                     std::min(progress.supersteps, start_.repeats));
  now.set_total_ns(now.total_ns() + progress.total_ns);
  now.set_compute_ns(now.compute_ns() + progress.compute_ns);
  now.set_wait_ns(now.wait_ns() + progress.wait_ns);
  now.set_exchange_ns(now.exchange_ns() + progress.exchange_ns);
  now.set_w_ns(now.w_ns() + progress.w_ns);
  now.set_h_bytes(now.h_bytes() + progress.h_bytes);
  AddSilent(progress.l_ns, progress.silent, now);
  now.set_messages(now.messages() + progress.messages);
  now.set_processes(progress.processes);
  const proto::JobTotals before = totals();
  if (now.supersteps() < before.supersteps()) return;  // A late report.
  if (std::exchange(start_.adopted, false)) {
    counted_from_ = now;
  } else {
    RecordGrowth(before, now);
  }
  Store(now);
}

void SuperstepStats::RecordGrowth(const proto::JobTotals& before, const proto::JobTotals& now) {
  const std::uint64_t supersteps = now.supersteps() - before.supersteps();
  if (supersteps == 0) return;
  const auto record = [&](Histogram& histogram, std::uint64_t (proto::JobTotals::*sum)() const) {
    histogram.Record(((now.*sum)() - (before.*sum)()) / supersteps, supersteps);
  };
  SuperstepHistograms& all = *start_.recorders.of_all;
  record(*start_.recorders.of_job, &proto::JobTotals::total_ns);
  record(all.superstep_ns, &proto::JobTotals::total_ns);
  record(all.computing_ns, &proto::JobTotals::compute_ns);
  record(all.waiting_ns, &proto::JobTotals::wait_ns);
  record(all.exchange_ns, &proto::JobTotals::exchange_ns);
  record(all.h_bytes, &proto::JobTotals::h_bytes);
}

void SuperstepStats::Store(const proto::JobTotals& totals) {
  Set<std::uint64_t>(supersteps_, totals.supersteps());
  Set<std::uint64_t>(total_ns_, totals.total_ns());
  Set<std::uint64_t>(compute_ns_, totals.compute_ns());
  Set<std::uint64_t>(w_ns_, totals.w_ns());
  Set<std::uint64_t>(h_bytes_, totals.h_bytes());
  Set<std::uint64_t>(l_ns_, totals.l_ns());
  Set<std::uint64_t>(silent_, totals.silent());
  Set<std::uint64_t>(messages_, totals.messages());
  Set<std::uint64_t>(wait_ns_, totals.wait_ns());
  Set<std::uint64_t>(exchange_ns_, totals.exchange_ns());
  SetProcesses(totals.processes());
}

proto::JobTotals SuperstepStats::totals() const {
  proto::JobTotals totals;
  totals.set_supersteps(Get(supersteps_));
  totals.set_total_ns(Get(total_ns_));
  totals.set_compute_ns(Get(compute_ns_));
  totals.set_w_ns(Get(w_ns_));
  totals.set_h_bytes(Get(h_bytes_));
  totals.set_l_ns(Get(l_ns_));
  totals.set_silent(Get(silent_));
  totals.set_messages(Get(messages_));
  totals.set_wait_ns(Get(wait_ns_));
  totals.set_exchange_ns(Get(exchange_ns_));
  totals.set_processes(Get(processes_));
  const std::uint64_t silent = Get(silent_here_);
  AddSilent(MedianOf(silent_by_time_, silent), silent, totals);
  totals.set_beyond_ns(
      BeyondNs(totals.compute_ns() + totals.wait_ns() + totals.exchange_ns(), 1, totals.w_ns()));
  return totals;
}

}  // namespace bspnow::coordinator
