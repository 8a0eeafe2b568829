#include "worker/exchange/job_lanes.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <spdlog/spdlog.h>
#include <string.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/send_descriptors.h"
#include "net/stream_proof.h"
#include "runtime/link/bulk_plan.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kRetryMs = 200;
constexpr std::uint32_t kFailuresToNote = 25;  // What takes longer than a start is worth a line.

// A process has nobody who looks after its lane: what is gone must show soon. But not that the
// other end computes, and leaves the rest of a long frame in this one's buffer: the system would
// count a window that is closed for so long, too. Who waits for it looks after it (LaneKeeper).
SocketOptions OptionsOf(const SocketOptions& streams) {
  return {.congestion = streams.congestion,
          .buffer_bytes = 0,  // As the socket has it.
          .user_timeout_ms = 0,
          .keepalive_idle_s = 1,
          .keepalive_interval_s = 1};
}

std::size_t ProcessesOf(const JobPlan& plan, WorkerId self) {
  const auto here = std::find_if(plan.hosts.begin(), plan.hosts.end(),
                                 [self](const PlannedHost& host) { return host.worker == self; });
  BSP_CHECK(here != plan.hosts.end());
  return here->pids.size();
}

BulkPlan BulkOf(const JobPlan& plan) {
  BulkPlan bulk{.hosts = static_cast<std::uint32_t>(plan.hosts.size())};
  for (std::uint32_t i = 0; i < bulk.hosts; ++i)
    bulk.processes[i] = static_cast<std::uint32_t>(plan.hosts[i].pids.size());
  return bulk;
}

}  // namespace

bool JobLanes::Has(const JobPlan& plan, const StreamKey& key) {
  return !key.encrypts() && plan.direct && plan.hosts.size() > 1 &&
         plan.hosts.size() <= kLanesMax + 1 && plan.mailbox >= 0 &&
         plan.segment->segment().layout().check_full == 0;
}

JobLanes::JobLanes(const JobPlan& plan, WorkerId self, const LaneNetwork& network)
    : job_(plan.job),
      epoch_(plan.epoch),
      self_(self),
      mailbox_(plan.mailbox),
      processes_(ProcessesOf(plan, self)),
      job_key_(plan.key),
      network_(network) {
  BSP_CHECK(Has(plan, network.key));
  const BulkPlan bulk = BulkOf(plan);
  std::uint32_t own = 0;
  while (plan.hosts[own].worker != self) own += 1;
  const auto add = [&](std::uint32_t host, std::uint32_t number) {
    lanes_.push_back({.number = number,
                      .worker = plan.hosts[host].worker,
                      .node = plan.hosts[host].node,
                      .data_address = plan.hosts[host].data_address,
                      .connects_here = host > own,
                      .socket = {},
                      .connector = nullptr});
  };
  for (std::uint32_t host = 0; host < bulk.hosts; ++host)
    if (host != own) add(host, 0);
  for (std::uint32_t host = 0; host < bulk.hosts; ++host)
    for (std::uint32_t i = 0; host != own && i < bulk.Between(own, host); ++i) add(host, i + 1);
  bulk_lanes_ = bulk.LanesOf(own);
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].number == 0 && state_ == State::kOpening) Connect(i);
}

JobLanes::~JobLanes() { ShutDown(); }

void JobLanes::ShutDown() {
  state_ = State::kEnded;
  for (Lane& lane : lanes_) {
    network_.loop.CancelTimer(std::exchange(lane.retry_timer, kNoTimer));
    lane.connector.reset();
    if (lane.socket.valid()) shutdown(lane.socket.get(), SHUT_RDWR);
    lane.socket.Reset();
  }
}

void JobLanes::GiveUp(const std::string& reason) {
  spdlog::warn("event=no_lanes job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_), reason);
  ShutDown();
}

// ---- Connecting ---------------------------------------------------------------------------------

void JobLanes::Connect(std::size_t index) {
  Lane& lane = lanes_[index];
  if (!lane.connects_here) return;
  const absl::StatusOr<HostPort> address = ParseHostPort(lane.data_address);
  if (!address.ok()) return GiveUp(std::string(address.status().message()));
  lane.connector = std::make_unique<LaneConnector>(
      network_.loop, network_.resolver,
      LaneConnectorOptions{.key = KeyOfLanes(network_.key, job_key_),
                           .self = self_,
                           .target = lane.worker,
                           .job = job_,
                           .epoch = epoch_,
                           .number = NumberOnTheWire(lane.number),
                           .address = *address,
                           .socket = network_.socket},
      [this, index](absl::StatusOr<UniqueFd> socket) { OnConnected(index, std::move(socket)); });
}

// Bulk lanes follow the first one, which finds out whether the job has begun there.
void JobLanes::OnConnected(std::size_t index, absl::StatusOr<UniqueFd> socket) {
  Lane& lane = lanes_[index];
  lane.connector.reset();
  if (!socket.ok()) return OnFailed(index, socket.status());
  for (std::size_t i = 0; lane.number == 0 && i < lanes_.size(); ++i)
    if (lanes_[i].worker == lane.worker && i != index && state_ == State::kOpening) Connect(i);
  if (state_ == State::kOpening) Keep(lane, *std::move(socket));
}

// Mostly the job has not begun there yet.
void JobLanes::OnFailed(std::size_t index, const absl::Status& failure) {
  Lane& lane = lanes_[index];
  lane.failures += 1;
  if (lane.failures == kFailuresToNote) {
    spdlog::info("event=lane_missing job={} epoch={} node={} reason=\"{}\"", Value(job_),
                 Value(epoch_), lane.node, std::string(failure.message()));
  }
  lane.retry_timer = network_.loop.AddTimer(kRetryMs, [this, index] {
    lanes_[index].retry_timer = kNoTimer;
    Connect(index);
  });
}

bool JobLanes::Wants(WorkerId from, std::uint32_t number) const {
  return state_ == State::kOpening &&
         std::any_of(lanes_.begin(), lanes_.end(), [from, number](const Lane& lane) {
           return lane.worker == from && NumberOnTheWire(lane.number) == number &&
                  !lane.connects_here;
         });
}

void JobLanes::Take(WorkerId from, std::uint32_t number, UniqueFd socket) {
  BSP_CHECK(Wants(from, number));
  Keep(*std::find_if(lanes_.begin(), lanes_.end(),
                     [from, number](const Lane& lane) {
                       return lane.worker == from && NumberOnTheWire(lane.number) == number;
                     }),
       std::move(socket));
}

// ---- Handing over -------------------------------------------------------------------------------

void JobLanes::Keep(Lane& lane, UniqueFd socket) {
  SetOptions(socket.get(), OptionsOf(network_.socket)).IgnoreError();  // It works without, too.
  lane.socket = std::move(socket);
}

bool JobLanes::ready() const {
  return state_ != State::kEnded && std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
           return lane.socket.valid();
         });
}

// Nobody empties the mailbox before all is in it. If it is too small, or the kernel lets no more
// descriptors be under way, there are more processes than lanes help.
bool JobLanes::HandOver() {
  if (state_ != State::kOpening || !ready()) return state_ == State::kHanded;
  std::vector<int> sockets;
  for (const Lane& lane : lanes_) sockets.push_back(lane.socket.get());
  BSP_CHECK_OP(sockets.size(), <=, kLanesMax + kBulkLanesMax);
  const LaneHanding handing{.hosts = static_cast<std::uint32_t>(lanes_.size()) - bulk_lanes_ + 1,
                            .bulk_lanes = bulk_lanes_,
                            .trusted = network_.integrity == Integrity::kTcp ? 1u : 0u,
                            .reserved = 0};
  const auto bytes = std::as_bytes(std::span(&handing, 1));
  for (std::size_t i = 0; i < processes_; ++i) {
    if (SendDescriptors(mailbox_, bytes, sockets, IfFull::kFail) == ssize_t{sizeof handing})
      continue;
    GiveUp(absl::StrCat("handing them to ", processes_, " processes: ", strerror(errno)));
    return false;
  }
  state_ = State::kHanded;
  spdlog::info("event=lanes_open job={} epoch={} lanes={}", Value(job_), Value(epoch_),
               lanes_.size());
  return true;
}

}  // namespace bspnow::worker
