#include "runtime/testing/checkpoints.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>

#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "runtime/image/image_format.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kNoLease = ~std::uint64_t{0};
constexpr std::uint64_t kWatchedNs = 20'000'000;  // Time for many supersteps.

}  // namespace

// ---- Checkpoints ------------------------------------------------------------------------------

std::uint32_t CheckpointsForTest::Order(std::uint64_t superstep) {
  if (ordered_ == saves_.size() || saves_[ordered_].superstep != superstep) return 0;
  const SaveForTest& save = saves_[ordered_];
  ordered_ += 1;
  under_way_ = true;
  for (auto& node : nodes_) {
    ImageOrder& order = node->segment.header().image;
    order.checkpoint = ordered_;
    order.base = ordered_ - 1;
    order.hold = save.hold;
  }
  return 1;
}

void CheckpointsForTest::Want() {
  BSP_CHECK_OP(nodes_.size(), ==, 1u);
  const Segment& segment = nodes_[0]->segment;
  ImageOrder& order = segment.header().image;
  if (under_way_ || ordered_ == saves_.size()) return;
  if (segment.cell(Pid{0}).started.value.load() <= saves_[ordered_].superstep) return;
  if (Order(saves_[ordered_].superstep) == 1) order.wanted.store(ordered_);
}

bool CheckpointsForTest::Serve(std::uint32_t p) {
  bool any = false;
  for (std::uint32_t i = 0; i < p; ++i) {
    while (Hear(i, p)) any = true;
  }
  if (p != 0 && asked_.size() == p) GiveOutDirectories(p);
  return any;
}

bool CheckpointsForTest::Hear(std::uint32_t pid, std::uint32_t p) {
  union {
    LinkHello hello;
    LinkImageReport report;
  } said;
  const ssize_t bytes = recv(links_[pid].get(), &said, sizeof said, MSG_DONTWAIT);
  if (bytes <= 0) return false;
  BSP_CHECK_OP(said.hello.magic, ==, kLinkMagic);
  if (said.hello.kind == LinkImageReport::kKind) {
    BSP_CHECK(bytes == sizeof said.report);
    OnReport(said.report, p);
  } else if (said.hello.kind == LinkHello::kSaving) {
    BSP_CHECK(asked_.insert(pid).second);
  } else if (said.hello.kind == LinkHello::kResume) {
    const LinkImagePlace place{.magic = kLinkMagic, .version = kLinkVersion};
    SendWithFd(links_[pid].get(), &place, sizeof place, areas_.empty() ? -1 : areas_[pid].get());
  }
  return true;
}

void CheckpointsForTest::GiveOutDirectories(std::uint32_t p) {
  asked_.clear();
  images_.sockets.clear();
  for (std::uint32_t i = 0; i < p; ++i) {
    int ends[2];
    BSP_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    images_.sockets.emplace_back(ends[0]);
    const UniqueFd theirs(ends[1]);
    const LinkImagePlace place{.magic = kLinkMagic, .version = kLinkVersion};
    SendWithFd(links_[i].get(), &place, sizeof place, theirs.get());
  }
}

// When all images are complete, nobody who is held has gone on.
void CheckpointsForTest::OnReport(const LinkImageReport& report, std::uint32_t p) {
  if (report.written == 0) refusals_.emplace_back(report.reason);
  EXPECT_EQ(report.checkpoint, ordered_);
  reports_ += 1;
  if (reports_ != p) return;
  reports_ = 0;
  under_way_ = false;
  images_.facts.clear();
  images_.areas.clear();
  if (report.written == 0) return;
  for (std::uint32_t i = 0; i < p; ++i) {
    ImageForTest image;
    images_.areas.push_back(ReceiveWithFd(images_.sockets[i].get(), &image, sizeof image));
    images_.facts.push_back(image);
    taken_.push_back(image);
  }
  for (auto& node : nodes_) {
    ImageOrder& order = node->segment.header().image;
    const NodeHeader& header = node->segment.header();
    for (std::uint32_t i = 0; i < p && order.hold != 0; ++i) {
      if (!node->segment.IsHere(Pid{i})) continue;
      EXPECT_EQ(header.first_superstep + node->segment.cell(Pid{i}).started.value.load(),
                images_.facts[i].superstep);
    }
    const std::uint64_t complete_ns = NowNs();
    while (NowNs() - complete_ns < saves_[ordered_ - 1].hold_ns) sched_yield();
    order.ReleaseHeld(ordered_);
  }
}

// ---- The lease --------------------------------------------------------------------------------

std::vector<std::uint32_t> LeaseForTest::Progress() const {
  std::vector<std::uint32_t> started;
  for (const auto& node : nodes_) {
    for (std::uint32_t i = 0; i < node->segment.layout().nprocs; ++i) {
      started.push_back(node->segment.cell(Pid{i}).started.value.load());
    }
  }
  return started;
}

void LeaseForTest::SetUntil(std::uint64_t until_ns) {
  for (auto& node : nodes_) node->segment.header().lease_until_ns.store(until_ns);
  since_ns_ = NowNs();
}

// Who has left a barrier before ends the superstep that it is in, and no other.
void LeaseForTest::Step() {
  if (over()) return;
  if (phase_ == Phase::kValid) {
    if (nodes_[0]->segment.cell(Pid{0}).started.value.load() <= expires_behind_) return;
    SetUntil(NowNs());
    seen_ = Progress();
    phase_ = Phase::kExpired;
  } else if (phase_ == Phase::kExpired && NowNs() - since_ns_ > kWatchedNs) {
    const std::vector<std::uint32_t> now = Progress();
    for (std::size_t i = 0; i < now.size(); ++i) EXPECT_LE(now[i], seen_[i] + 1);
    SetUntil(kNoLease);
    phase_ = Phase::kRenewed;
  }
}

}  // namespace bspnow::runtime
