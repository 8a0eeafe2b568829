#include "worker/core/coordinator_session.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/packet.h"
#include "base/version.h"
#include "worker/core/output_credit.h"

namespace bspnow::worker {

// ---- Registration -------------------------------------------------------------------------------

void CoordinatorSession::Describe(proto::RegisterRequest& request) const {
  request.set_protocol_oldest(kProtocolOldest);
  request.set_protocol(kProtocol);
  request.set_incarnation(incarnation_);
  request.set_previous_worker(worker_);
  std::set<std::pair<std::uint64_t, std::uint64_t>> held;
  for (proto::HeldJob& job : *request.mutable_held()) {
    held.emplace(job.job(), job.epoch());
    if (WillFail(job)) job.set_clearing(false);
    auto& exited = *job.mutable_exited();
    exited.erase(std::remove_if(exited.begin(), exited.end(),
                                [&](const proto::ProcessExited& exit) {
                                  return IsUnacknowledged(job, exit.pid());
                                }),
                 exited.end());
  }
  for (const proto::WorkerEvent& event : unacknowledged_) {
    if (event.epoch() == 0 || !held.emplace(event.job(), event.epoch()).second) continue;
    proto::HeldJob& job = *request.add_held();
    job.set_job(event.job());
    job.set_epoch(event.epoch());
    job.set_clearing(!WillFail(job));
  }
}

bool CoordinatorSession::WillFail(const proto::HeldJob& job) const {
  return std::any_of(
      unacknowledged_.begin(), unacknowledged_.end(), [&](const proto::WorkerEvent& event) {
        return event.job() == job.job() && event.epoch() == job.epoch() && event.broken().final();
      });
}

bool CoordinatorSession::IsUnacknowledged(const proto::HeldJob& job,
                                          std::uint32_t exited_pid) const {
  return std::any_of(unacknowledged_.begin(), unacknowledged_.end(),
                     [&](const proto::WorkerEvent& event) {
                       return event.job() == job.job() && event.epoch() == job.epoch() &&
                              event.has_exited() && event.exited().pid() == exited_pid;
                     });
}

void CoordinatorSession::OnRegistered(const proto::RegisterReply& reply) {
  const std::set<std::uint64_t> kept(reply.keep_jobs().begin(), reply.keep_jobs().end());
  std::erase_if(unacknowledged_,
                [&](const proto::WorkerEvent& event) { return !kept.contains(event.job()); });
  last_ = 0;
  for (proto::WorkerEvent& event : unacknowledged_) event.set_sequence(++last_);
  orders_taken_ = 0;
  worker_ = reply.worker();
  term_ = reply.term();
}

// ---- The stream ---------------------------------------------------------------------------------

proto::WorkerEvent CoordinatorSession::OnAttached(const proto::RegisterRequest& self) {
  sent_ = unacknowledged_.empty() ? last_ : unacknowledged_.front().sequence() - 1;
  proto::WorkerEvent first;
  first.set_worker(worker_);
  first.set_incarnation(incarnation_);
  first.set_orders_taken(orders_taken_);
  first.set_term(term_);
  first.set_data_address(self.data_address());
  first.set_images_address(self.images_address());
  first.set_filler(std::string(kMoreThanAPacketBytes, 0));
  return first;
}

proto::WorkerEvent CoordinatorSession::NextUnsent() {
  sent_ += 1;
  proto::WorkerEvent event = unacknowledged_[sent_ - unacknowledged_.front().sequence()];
  event.set_orders_taken(orders_taken_);
  return event;
}

bool CoordinatorSession::Take(const proto::Order& order) {
  if (order.sequence() <= orders_taken_) return false;
  orders_taken_ = order.sequence();
  return true;
}

CoordinatorSession::Credits CoordinatorSession::OnAcknowledge(std::uint64_t sequence) {
  Credits credits;
  while (!unacknowledged_.empty() && unacknowledged_.front().sequence() <= sequence) {
    const proto::WorkerEvent& event = unacknowledged_.front();
    if (event.has_output()) {
      credits[{JobId{event.job()}, Epoch{event.epoch()}}] +=
          OutputCharge(event.output().text().size());
    }
    unacknowledged_.pop_front();
  }
  sent_ = std::max(sent_, sequence);
  return credits;
}

void CoordinatorSession::Report(proto::WorkerEvent event) {
  event.set_sequence(++last_);
  unacknowledged_.push_back(std::move(event));
}

}  // namespace bspnow::worker
