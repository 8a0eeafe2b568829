#include "worker/exchange/job_lanes.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "runtime/link/link.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kRetryMs = 200;
constexpr std::uint32_t kFailuresToNote = 25;  // What takes longer than a start is worth a line.

// A process has nobody who looks after its lane: what is gone must show soon.
SocketOptions OptionsOf(const SocketOptions& streams) {
  return {.congestion = streams.congestion,
          .buffer_bytes = 0,  // As the socket has it.
          .user_timeout_ms = 5000,
          .keepalive_idle_s = 1,
          .keepalive_interval_s = 1};
}

std::size_t ProcessesOf(const JobPlan& plan, WorkerId self) {
  const auto here = std::find_if(plan.hosts.begin(), plan.hosts.end(),
                                 [self](const PlannedHost& host) { return host.worker == self; });
  BSP_CHECK(here != plan.hosts.end());
  return here->pids.size();
}

/// One message of the mailbox, with all lanes.
class Handing {
 public:
  explicit Handing(const std::vector<int>& lanes)
      : handing_{.hosts = static_cast<std::uint32_t>(lanes.size()) + 1} {
    const std::size_t bytes = lanes.size() * sizeof(int);
    BSP_CHECK_OP(lanes.size(), <=, kLanesMax);
    message_.msg_iov = &text_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_;
    message_.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(header), lanes.data(), bytes);
  }
  Handing(const Handing&) = delete;
  Handing& operator=(const Handing&) = delete;

  bool Put(int mailbox) const {
    return sendmsg(mailbox, &message_, MSG_NOSIGNAL | MSG_DONTWAIT) == ssize_t{sizeof handing_};
  }

 private:
  LaneHanding handing_;
  iovec text_{&handing_, sizeof handing_};
  alignas(cmsghdr) char control_[CMSG_SPACE(kLanesMax * sizeof(int))] = {};
  msghdr message_{};
};

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
      network_(network) {
  BSP_CHECK(Has(plan, network.key));
  bool above = false;
  for (const PlannedHost& host : plan.hosts) {
    if (host.worker == self) {
      above = true;
      continue;
    }
    lanes_.push_back({.worker = host.worker,
                      .node = host.node,
                      .data_address = host.data_address,
                      .connects_here = above,
                      .socket = {},
                      .connector = nullptr});
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].connects_here && state_ == State::kOpening) Connect(i);
  }
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
  const absl::StatusOr<HostPort> address = ParseHostPort(lane.data_address);
  if (!address.ok()) return GiveUp(std::string(address.status().message()));
  lane.connector = std::make_unique<LaneConnector>(
      network_.loop, network_.resolver,
      LaneConnectorOptions{.key = network_.key,
                           .self = self_,
                           .target = lane.worker,
                           .job = job_,
                           .epoch = epoch_,
                           .address = *address,
                           .socket = network_.socket},
      [this, index](absl::StatusOr<UniqueFd> socket) { OnConnected(index, std::move(socket)); });
}

void JobLanes::OnConnected(std::size_t index, absl::StatusOr<UniqueFd> socket) {
  lanes_[index].connector.reset();
  if (!socket.ok()) return OnFailed(index, socket.status());
  Keep(lanes_[index], *std::move(socket));
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

bool JobLanes::Wants(WorkerId from) const {
  return state_ == State::kOpening &&
         std::any_of(lanes_.begin(), lanes_.end(), [from](const Lane& lane) {
           return lane.worker == from && !lane.connects_here;
         });
}

void JobLanes::Take(WorkerId from, UniqueFd socket) {
  BSP_CHECK(Wants(from));
  Keep(*std::find_if(lanes_.begin(), lanes_.end(),
                     [from](const Lane& lane) { return lane.worker == from; }),
       std::move(socket));
}

// ---- Handing over -------------------------------------------------------------------------------

void JobLanes::Keep(Lane& lane, UniqueFd socket) {
  SetOptions(socket.get(), OptionsOf(network_.socket)).IgnoreError();  // It works without, too.
  lane.socket = std::move(socket);
  const bool all = std::all_of(lanes_.begin(), lanes_.end(),
                               [](const Lane& other) { return other.socket.valid(); });
  if (all) HandOver();
}

// Nobody empties the mailbox before all is in it. If it is too small, or the kernel lets no more
// descriptors be under way, there are more processes than lanes help.
void JobLanes::HandOver() {
  std::vector<int> sockets;
  for (const Lane& lane : lanes_) sockets.push_back(lane.socket.get());
  const Handing handing(sockets);
  for (std::size_t i = 0; i < processes_; ++i) {
    if (handing.Put(mailbox_)) continue;
    return GiveUp(absl::StrCat("handing them to ", processes_, " processes: ", strerror(errno)));
  }
  state_ = State::kHanded;
  spdlog::info("event=lanes_open job={} epoch={} lanes={}", Value(job_), Value(epoch_),
               lanes_.size());
}

}  // namespace bspnow::worker
