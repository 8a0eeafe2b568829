#include "worker/exchange/job_lanes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "net/receiving_streams.h"
#include "runtime/link/bulk_plan.h"
#include "worker/exchange/doorbell_ends.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {
namespace {

constexpr unsigned kHangsS = 30;
constexpr std::uint32_t kProcessesHere = 2;
const StreamKey kKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));
const StreamKey kJobKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'j'));

enum class Checks { kSome, kFull };

NodeSegment SegmentOf(std::uint32_t hosts, Checks checks) {
  absl::StatusOr<NodeSegment> segment =
      NodeSegment::Create(SegmentPlan{.job = JobId{1},
                                      .epoch = Epoch{1},
                                      .nprocs = kProcessesHere * hosts,
                                      .check_full = checks == Checks::kFull,
                                      .memory_bytes = 1 << 20,
                                      .address_space_bytes = std::uint64_t{400} << 20});
  EXPECT_TRUE(segment.ok());
  return *std::move(segment);
}

/// One worker of a job, with its listener; the job may begin there later.
class Host final : private BatchSink {
 public:
  Host(EventLoop& loop, std::uint32_t number)
      : loop_(loop),
        resolver_(loop),
        self_{number + 1},
        receiving_(loop, {}, static_cast<BatchSink&>(*this), nullptr) {
    EXPECT_TRUE(receiving_.Listen(*Resolve({"127.0.0.1", 0})).ok());
    receiving_.SetSelf(self_, kKey);
  }

  std::string address() const { return receiving_.address().ToString(); }
  std::uint64_t refused() const { return receiving_.counts().refused; }

  void Begin(JobPlan plan) {
    mailbox = *MakeMailbox();
    plan.mailbox = mailbox.worker.get();
    lanes = std::make_unique<JobLanes>(plan, self_, LaneNetwork{loop_, resolver_, kKey, {}});
  }

  MailboxEnds mailbox;
  std::unique_ptr<JobLanes> lanes;

 private:
  std::span<std::byte> Place(WorkerId, const FrameHeader&, const BatchPiece&) override {
    return {};
  }
  FrameFault OnBatch(WorkerId, const FrameHeader&, const BatchPiece&,
                     std::span<const std::byte>) override {
    return FrameFault::kMalformed;
  }
  const StreamKey* KeyOf(JobId job, Epoch epoch) override {
    return lanes && job == JobId{1} && epoch == Epoch{1} ? &kJobKey : nullptr;
  }
  bool WantsLane(const LaneName& lane) override {
    return lanes && lane.job == JobId{1} && lane.epoch == Epoch{1} &&
           lanes->Wants(lane.from, lane.number);
  }
  void TakeLane(const LaneName& lane, UniqueFd socket) override {
    lanes->Take(lane.from, lane.number, std::move(socket));
  }

  EventLoop& loop_;
  Resolver resolver_;
  const WorkerId self_;
  ReceivingStreams receiving_;
};

struct Taken {
  std::vector<UniqueFd> lanes;
  std::vector<UniqueFd> bulk;
};

/// What one process takes out of its mailbox: the sockets, or none if it is empty.
Taken TakeAll(const MailboxEnds& mailbox) {
  LaneHanding handing{};
  iovec part{&handing, sizeof handing};
  alignas(cmsghdr) char control[CMSG_SPACE(64 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  Taken taken;
  if (recvmsg(mailbox.processes.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) return taken;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
    int fd;
    memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    const bool is_lane = taken.lanes.size() + 1 < handing.hosts;
    (is_lane ? taken.lanes : taken.bulk).emplace_back(fd);
  }
  EXPECT_EQ(handing.hosts, taken.lanes.size() + 1);
  EXPECT_EQ(handing.bulk_lanes, taken.bulk.size());
  return taken;
}

std::vector<UniqueFd> TakeOne(const MailboxEnds& mailbox) { return TakeAll(mailbox).lanes; }

/// As recv returns it, once there is something.
ssize_t Hear(const UniqueFd& lane, char* bytes, std::size_t room) {
  pollfd wait{.fd = lane.get(), .events = POLLIN, .revents = 0};
  poll(&wait, 1, -1);
  return recv(lane.get(), bytes, room, 0);
}

class JobLanesTest : public testing::Test {
 protected:
  JobLanesTest() { alarm(kHangsS); }

  void MakeHosts(std::uint32_t count) {
    segment_ = std::make_unique<NodeSegment>(SegmentOf(count, Checks::kSome));
    for (std::uint32_t k = 0; k < count; ++k) hosts_.push_back(std::make_unique<Host>(loop_, k));
  }
  JobPlan Plan() {
    JobPlan plan{.job = JobId{1},
                 .epoch = Epoch{1},
                 .hosts = {},
                 .segment = segment_.get(),
                 .doorbell = -1,
                 .direct = true,
                 .key = kJobKey};
    std::uint32_t number = 0;
    for (const auto& host : hosts_) {
      plan.hosts.push_back({.worker = WorkerId{number + 1},
                            .data_address = host->address(),
                            .node = "w",
                            .pids = {Pid{2 * number}, Pid{2 * number + 1}}});
      number += 1;
    }
    return plan;
  }
  void BeginAll() {
    for (const auto& host : hosts_) host->Begin(Plan());
    RunUntil([this] { return AllReady(); });
    for (const auto& host : hosts_) EXPECT_TRUE(host->lanes->HandOver());
  }
  bool AllReady() const {
    for (const auto& host : hosts_)
      if (!host->lanes || !host->lanes->ready()) return false;
    return true;
  }
  template <typename Condition>
  void RunUntil(Condition condition) {
    while (!condition()) {
      loop_.AddTimer(1, [] {});
      loop_.RunOnce();
    }
  }
  void RunFor(std::uint64_t ms) {
    const std::uint64_t end_ns = NowNs() + ms * kNsPerMs;
    RunUntil([end_ns] { return NowNs() >= end_ns; });
  }

  EventLoop loop_;
  std::unique_ptr<NodeSegment> segment_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

TEST_F(JobLanesTest, EachProcessGetsALaneToEachOtherHostByItsNumber) {
  MakeHosts(3);
  BeginAll();
  std::vector<std::vector<UniqueFd>> lanes;
  for (const auto& host : hosts_) {
    const std::vector<UniqueFd> first = TakeOne(host->mailbox);
    EXPECT_EQ(first.size(), 2u);
    lanes.push_back(TakeOne(host->mailbox));
    ASSERT_EQ(lanes.back().size(), 2u);
    EXPECT_TRUE(TakeOne(host->mailbox).empty()) << "one for each process";
  }
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      if (from == to) continue;
      const char said[2] = {static_cast<char>('0' + from), static_cast<char>('0' + to)};
      const UniqueFd& near = lanes[from][to < from ? to : to - 1];
      const UniqueFd& far = lanes[to][from < to ? from : from - 1];
      ASSERT_EQ(send(near.get(), said, sizeof said, MSG_NOSIGNAL), 2);
      char heard[2] = {};
      ASSERT_EQ(Hear(far, heard, sizeof heard), 2);
      EXPECT_EQ(memcmp(said, heard, 2), 0);
    }
  }
}

TEST_F(JobLanesTest, EachTwoProcessesOnDifferentHostsHaveABulkLane) {
  MakeHosts(3);
  BeginAll();
  const BulkPlan bulk{.hosts = 3, .processes = {2, 2, 2}};
  std::vector<Taken> taken;
  for (const auto& host : hosts_) {
    taken.push_back(TakeAll(host->mailbox));
    ASSERT_EQ(taken.back().bulk.size(), 8u);
  }
  const auto lane_of = [&](std::uint32_t host, std::uint32_t here, std::uint32_t other,
                           std::uint32_t there) -> const UniqueFd& {
    const bool second = other > (host == 0 ? 1u : 0u);
    return taken[host].bulk[(second ? 4 : 0) + bulk.Place(host, here, other, there)];
  };
  for (std::uint32_t pair = 0; pair < 36; ++pair) {
    const std::uint32_t from = pair / 12, to = pair / 4 % 3, here = pair / 2 % 2, there = pair % 2;
    if (from == to) continue;
    const char said = static_cast<char>('A' + pair);
    ASSERT_EQ(send(lane_of(from, here, to, there).get(), &said, 1, MSG_NOSIGNAL), 1);
    char heard = 0;
    ASSERT_EQ(Hear(lane_of(to, there, from, here), &heard, 1), 1);
    EXPECT_EQ(said, heard);
  }
}

TEST_F(JobLanesTest, ManyProcessesHaveNoBulkLanes) {
  BulkPlan bulk{.hosts = 2, .processes = {4, 4}};
  EXPECT_EQ(bulk.LanesOf(0), 16u);
  bulk.processes[1] = 5;
  EXPECT_EQ(bulk.LanesOf(0), 0u);
  EXPECT_EQ(bulk.Between(0, 1), 0u);
  bulk = {.hosts = kLaneHostsMax, .processes = {}};
  std::fill_n(bulk.processes, kLaneHostsMax, 1);
  EXPECT_EQ(bulk.LanesOf(0), kBulkLanesMax) << "of one process a node";
  bulk.processes[1] = 2;
  EXPECT_EQ(bulk.LanesOf(0), 0u);
}

TEST_F(JobLanesTest, ALaneShowsSoonThatItsEndIsGone) {
  MakeHosts(2);
  BeginAll();
  for (const auto& host : hosts_) {
    const std::vector<UniqueFd> lanes = TakeOne(host->mailbox);
    ASSERT_EQ(lanes.size(), 1u);
    const auto option = [&lanes](int name) {
      int value = -1;
      socklen_t bytes = sizeof value;
      getsockopt(lanes[0].get(), IPPROTO_TCP, name, &value, &bytes);
      return value;
    };
    EXPECT_EQ(option(TCP_NODELAY), 1);
    EXPECT_EQ(option(TCP_USER_TIMEOUT), 0) << "the other end may compute for as long as it will";
    EXPECT_EQ(option(TCP_KEEPIDLE), 1);
    EXPECT_EQ(option(TCP_KEEPINTVL), 1);
    EXPECT_EQ(option(TCP_KEEPCNT), 3);
  }
}

TEST_F(JobLanesTest, TriesUntilTheJobHasBegunThere) {
  MakeHosts(2);
  hosts_[0]->Begin(Plan());
  RunUntil([&] { return hosts_[1]->refused() == 2; });
  EXPECT_FALSE(hosts_[0]->lanes->ready());
  hosts_[1]->Begin(Plan());
  RunUntil([&] { return AllReady(); });
}

// Who has the cluster's key, and hosts no process of the job.
TEST_F(JobLanesTest, WantsNoneOfAWorkerWithoutTheKeyOfTheJob) {
  MakeHosts(2);
  JobPlan guessed = Plan();
  guessed.key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'g'));
  hosts_[0]->Begin(guessed);
  hosts_[1]->Begin(Plan());
  RunUntil([&] { return hosts_[1]->refused() == 2; });
  EXPECT_FALSE(hosts_[0]->lanes->ready()) << "it trusts that one no more";
  EXPECT_FALSE(hosts_[1]->lanes->ready());
}

TEST_F(JobLanesTest, CanEndAtAnyTime) {
  MakeHosts(2);
  hosts_[0]->Begin(Plan());
  RunUntil([&] { return hosts_[1]->refused() == 1; });
  hosts_[0]->lanes.reset();  // While it waits to try again.
  RunFor(300);
  EXPECT_EQ(hosts_[1]->refused(), 1u);
  for (int turns = 0; turns < 6; ++turns) {
    hosts_[0]->Begin(Plan());
    hosts_[1]->Begin(Plan());
    for (int i = 0; i < turns; ++i) {
      loop_.AddTimer(1, [] {});
      loop_.RunOnce();
    }
    hosts_[0]->lanes.reset();
    hosts_[1]->lanes.reset();
  }
}

TEST_F(JobLanesTest, ShutsLanesDownThoughProcessesHoldThem) {
  MakeHosts(2);
  BeginAll();
  const std::vector<UniqueFd> ours = TakeOne(hosts_[0]->mailbox);
  const std::vector<UniqueFd> theirs = TakeOne(hosts_[1]->mailbox);
  hosts_[0]->lanes->ShutDown();
  EXPECT_FALSE(hosts_[0]->lanes->ready());
  char byte;
  EXPECT_EQ(Hear(ours[0], &byte, 1), 0);
  EXPECT_EQ(Hear(theirs[0], &byte, 1), 0);
  EXPECT_LT(send(ours[0].get(), "x", 1, MSG_NOSIGNAL), 0);
  EXPECT_FALSE(hosts_[0]->lanes->Wants(WorkerId{2}, 0));
}

TEST_F(JobLanesTest, WantsALaneOnlyFromHostsBelowUntilAllAreThere) {
  MakeHosts(3);
  hosts_[1]->Begin(Plan());
  const JobLanes& lanes = *hosts_[1]->lanes;
  const auto wants = [&lanes](std::uint32_t from, std::uint32_t number) {
    return lanes.Wants(WorkerId{from}, JobLanes::NumberOnTheWire(number));
  };
  EXPECT_FALSE(lanes.Wants(WorkerId{1}, 0)) << "of a node whose frames are others";
  EXPECT_TRUE(wants(1, 0));
  EXPECT_FALSE(wants(2, 0));
  EXPECT_FALSE(wants(3, 0));
  EXPECT_FALSE(wants(9, 0));
  EXPECT_TRUE(wants(1, 4)) << "bulk lanes, too";
  EXPECT_FALSE(wants(1, 5));
  hosts_[0]->Begin(Plan());
  hosts_[2]->Begin(Plan());
  RunUntil([&] { return AllReady(); });
  EXPECT_TRUE(TakeOne(hosts_[1]->mailbox).empty()) << "it is not known that all nodes are ready";
  EXPECT_TRUE(hosts_[1]->lanes->HandOver());
  EXPECT_FALSE(wants(1, 0)) << "processes have it already";
}

TEST_F(JobLanesTest, DoesWithoutIfTheMailboxIsTooSmall) {
  MakeHosts(2);
  JobPlan plan = Plan();
  for (std::uint32_t i = 4; i < 40'000; ++i) plan.hosts[1].pids.push_back(Pid{i});
  hosts_[0]->Begin(plan);
  hosts_[1]->Begin(plan);
  RunUntil([&] { return AllReady(); });
  EXPECT_FALSE(hosts_[1]->lanes->HandOver());
  EXPECT_FALSE(hosts_[1]->lanes->ready());
}

TEST_F(JobLanesTest, OnlyAFewHostsThatReleaseThemselvesHaveLanes) {
  MakeHosts(kLaneHostsMax + 1);
  const auto plan_of = [this](std::size_t hosts) {
    JobPlan plan = Plan();
    plan.hosts.resize(hosts);
    plan.mailbox = 0;
    return plan;
  };
  EXPECT_FALSE(JobLanes::Has(plan_of(1), kKey));
  EXPECT_TRUE(JobLanes::Has(plan_of(2), kKey));
  EXPECT_FALSE(JobLanes::Has(plan_of(2), kKey.Encrypting()));
  EXPECT_TRUE(JobLanes::Has(plan_of(kLaneHostsMax), kKey));
  EXPECT_FALSE(JobLanes::Has(plan_of(kLaneHostsMax + 1), kKey));
  JobPlan plan = plan_of(2);
  plan.direct = false;
  EXPECT_FALSE(JobLanes::Has(plan, kKey));
  plan = plan_of(2);
  plan.mailbox = -1;
  EXPECT_FALSE(JobLanes::Has(plan, kKey));
  NodeSegment checked = SegmentOf(2, Checks::kFull);
  plan = plan_of(2);
  plan.segment = &checked;
  EXPECT_FALSE(JobLanes::Has(plan, kKey));
}

}  // namespace
}  // namespace bspnow::worker
