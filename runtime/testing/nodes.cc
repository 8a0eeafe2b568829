#include "runtime/testing/nodes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/send_descriptors.h"

namespace bspnow::runtime {
namespace {

constexpr int kPatienceMs = 20'000;

class Job {
 public:
  Job(const NodesPlan& plan, const std::function<void(Process&)>& program, ImagesForTest areas);
  Job(const NodesPlan& plan, ImagesForTest images);
  JobOutcome Run();

 private:
  std::uint32_t nprocs() const { return static_cast<std::uint32_t>(plan_.node_of.size()); }
  NodeForTest& NodeOf(std::uint32_t pid) { return *nodes_[plan_.node_of[pid]]; }

  void MakeNode(std::uint32_t number);
  void MakeNodes();
  void StartProcess(const std::function<void(Process&)>& program);
  void RestoreProcess(const ImageForTest& image, const UniqueFd& socket);
  void Adopt(pid_t os_pid);
  void AnswerHello(std::uint32_t pid);

  bool Step();  ///< Looks at all bells once; whether there was something to do.
  bool SpreadParticipants();
  bool FinishBarrier();
  BarrierFlags SumFlags();
  void CopyEnds();
  void Release(const BarrierFlags& all);
  bool StartsASuperstep(std::uint32_t barrier) const {
    return !plan_.check_full || barrier % 2 == 0;
  }
  void KillAll();
  void Sleep();
  bool Reap();

  NodesPlan plan_;
  NodesForTest nodes_;
  ExchangeForTest exchange_;
  std::vector<UniqueFd> links_;
  std::vector<UniqueFd> ends_;  ///< Each readable once its process has ended.
  std::vector<pid_t> os_pids_;  ///< 0 once reaped.
  UniqueFd errors_;
  std::uint32_t p_ = 0;
  std::uint32_t released_ = 0;  ///< Barriers.
  std::uint64_t first_superstep_ = 0;
  CheckpointsForTest checkpoints_;
  LeaseForTest lease_;
  JobOutcome outcome_;
};

// ---- Start and end ----------------------------------------------------------------------------

Job::Job(const NodesPlan& plan, const std::function<void(Process&)>& program, ImagesForTest areas)
    : plan_(plan),
      exchange_(nodes_, plan.node_of, plan.acknowledge),
      errors_(memfd_create("errors", MFD_CLOEXEC)),
      checkpoints_(nodes_, links_, plan.saves),
      lease_(nodes_, plan.lease_expires_behind) {
  fcntl(errors_.get(), F_SETFL, O_APPEND);  // All write; in a memfd the position alone gets lost.
  prctl(PR_SET_CHILD_SUBREAPER, 1);         // Of images that outlive the process they are of.
  checkpoints_.HandOut(std::move(areas.areas));
  MakeNodes();
  for (std::uint32_t i = 0; i < nprocs(); ++i) StartProcess(program);
  for (std::uint32_t i = 0; i < nprocs(); ++i) AnswerHello(i);
}

Job::Job(const NodesPlan& plan, ImagesForTest images)
    : plan_(plan),
      exchange_(nodes_, plan.node_of, plan.acknowledge),
      errors_(std::move(images.errors)),
      first_superstep_(images.facts[0].superstep - 1),
      checkpoints_(nodes_, links_, plan.saves),
      lease_(nodes_, plan.lease_expires_behind) {
  MakeNodes();
  p_ = images.facts[0].nprocs;
  BSP_CHECK_OP(p_, ==, nprocs());
  for (auto& node : nodes_) {
    node->segment.header().first_superstep = first_superstep_;
    node->segment.header().participants.Publish(p_);
    for (std::uint32_t i = 0; i < p_; ++i) node->here += node->segment.IsHere(Pid{i}) ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < p_; ++i) RestoreProcess(images.facts[i], images.sockets[i]);
  for (std::uint32_t i = 0; i < p_; ++i) AnswerHello(i);
  exchange_.Start(p_);
}

void Job::MakeNodes() {
  const std::uint32_t nodes = *std::max_element(plan_.node_of.begin(), plan_.node_of.end()) + 1;
  for (std::uint32_t n = 0; n < nodes; ++n) MakeNode(n);
}

void Job::MakeNode(std::uint32_t number) {
  const SegmentPlan plan{.job = JobId{1},
                         .epoch = Epoch{1},
                         .nprocs = nprocs(),
                         .check_full = plan_.check_full,
                         .memory_bytes = std::uint64_t{1} << 30};
  const SegmentLayout layout = LayOutSegment(plan);
  auto node = std::make_unique<NodeForTest>();
  node->memory = UniqueFd(memfd_create("node", MFD_CLOEXEC));
  int doorbell[2];
  BSP_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, doorbell) == 0);
  node->doorbell = UniqueFd(doorbell[0]);
  node->process_doorbell = UniqueFd(doorbell[1]);
  BSP_CHECK(ftruncate(node->memory.get(), static_cast<off_t>(SegmentBytes(layout))) == 0);
  node->segment = Segment(MappedRegion::Shared(node->memory.get(), SegmentBytes(layout)), layout);
  NodeHeader& header = node->segment.header();
  header.layout = layout;
  header.lease_until_ns = ~std::uint64_t{0};
  header.node = number;
  header.nodes = *std::max_element(plan_.node_of.begin(), plan_.node_of.end()) + 1;
  for (std::uint32_t i = 0; i < nprocs(); ++i) {
    node->segment.cell(Pid{i}).node = plan_.node_of[i];
  }
  nodes_.push_back(std::move(node));
}

void Job::StartProcess(const std::function<void(Process&)>& program) {
  int link[2];
  BSP_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) == 0);
  const pid_t os_pid = fork();
  BSP_CHECK(os_pid >= 0);
  if (os_pid == 0) {
    setenv(kLinkVariable, std::to_string(link[1]).c_str(), 1);
    dup2(errors_.get(), STDERR_FILENO);
    static Process process;
    program(process);
    _exit(EXIT_SUCCESS);
  }
  links_.emplace_back(link[0]);
  UniqueFd theirs(link[1]);
  Adopt(os_pid);
}

void Job::RestoreProcess(const ImageForTest& image, const UniqueFd& socket) {
  int link[2];
  BSP_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) == 0);
  links_.emplace_back(link[0]);
  const UniqueFd theirs(link[1]);
  const char go = 1;
  SendWithFd(socket.get(), &go, sizeof go, theirs.get());
  Adopt(image.os_pid);
}

void Job::Adopt(pid_t os_pid) {
  os_pids_.push_back(os_pid);
  ends_.emplace_back(static_cast<int>(syscall(SYS_pidfd_open, os_pid, 0)));
}

void Job::AnswerHello(std::uint32_t pid) {
  LinkHello hello{};
  BSP_CHECK(recv(links_[pid].get(), &hello, sizeof hello, 0) == sizeof hello);
  const NodeForTest& node = NodeOf(pid);
  LinkWelcome welcome{.magic = kLinkMagic,
                      .version = kLinkVersion,
                      .pid = pid,
                      .processors = 2,
                      .segment_bytes = node.segment.bytes()};
  const int fds[] = {node.memory.get(), node.process_doorbell.get()};
  BSP_CHECK(SendDescriptors(links_[pid].get(), std::as_bytes(std::span(&welcome, 1)), fds,
                            IfFull::kWait) == sizeof welcome);
}

// Whether all have ended. As a real worker does, ends the job when the first fails.
bool Job::Reap() {
  bool all = true;
  for (std::uint32_t i = 0; i < nprocs(); ++i) {
    if (os_pids_[i] == 0) continue;
    int status = 0;
    if (waitpid(os_pids_[i], &status, WNOHANG) == 0) {
      all = false;
      continue;
    }
    os_pids_[i] = 0;
    ends_[i].Reset();
    outcome_.statuses[i] = status;
    if (status == 0) continue;
    usleep(20'000);  // tidy: time for others to say what they should not
    KillAll();
  }
  return all;
}

void Job::KillAll() {
  for (const pid_t os_pid : os_pids_) {
    if (os_pid != 0) kill(os_pid, SIGKILL);
  }
}

JobOutcome Job::Run() {
  outcome_.statuses.assign(nprocs(), -1);
  while (!Reap()) {
    if (!Step()) Sleep();
  }
  const auto well = [](int status) { return status == 0; };
  if (std::all_of(outcome_.statuses.begin(), outcome_.statuses.end(), well)) {
    // Their last words. Of processes that were killed some may have waited for an answer.
    checkpoints_.Serve(NodeOf(0).segment.header().participants.value.load());
  }
  outcome_.counts = exchange_.counts();
  outcome_.taken = checkpoints_.taken();
  outcome_.refusals = checkpoints_.refusals();
  outcome_.images = checkpoints_.TakeImages();
  char text[4096];
  ssize_t n;
  lseek(errors_.get(), 0, SEEK_SET);
  while ((n = read(errors_.get(), text, sizeof text)) > 0) {
    outcome_.errors.append(text, static_cast<std::size_t>(n));
  }
  outcome_.images.errors = std::move(errors_);
  return std::move(outcome_);
}

// ---- The bells --------------------------------------------------------------------------------

void Job::Sleep() {
  std::vector<pollfd> waits;
  for (auto& node : nodes_) {
    node->segment.header().bell.sleeping.store(1, std::memory_order_seq_cst);
    waits.push_back({.fd = node->doorbell.get(), .events = POLLIN, .revents = 0});
  }
  for (const std::vector<UniqueFd>* fds : {&ends_, &links_}) {
    for (const UniqueFd& fd : *fds) {
      waits.push_back({.fd = fd.get(), .events = POLLIN, .revents = 0});
    }
  }
  if (!Step()) {
    const bool look_again = !lease_.over() || (nodes_.size() == 1 && !plan_.saves.empty());
    // Of one node nobody rings until a process ends: that is as long as the whole program takes.
    const int patience_ms = nodes_.size() == 1 ? 5 * kPatienceMs : kPatienceMs;
    if (poll(waits.data(), waits.size(), look_again ? 1 : patience_ms) == 0 && !look_again) {
      ADD_FAILURE() << "nobody rang, with " << released_ << " barriers released";
      KillAll();
    }
    outcome_.sleeps += 1;
  }
  for (auto& node : nodes_) {
    node->segment.header().bell.sleeping.store(0, std::memory_order_seq_cst);
    char rings[256];
    (void)!recv(node->doorbell.get(), rings, sizeof rings, MSG_DONTWAIT);
  }
}

bool Job::Step() {
  const bool spread = SpreadParticipants();
  lease_.Step();
  if (nodes_.size() == 1) {
    checkpoints_.Want();
    return checkpoints_.Serve(nodes_[0]->segment.header().participants.value.load());
  }
  if (p_ == 0) return spread;
  const bool heard = checkpoints_.Serve(p_);
  const bool took = released_ != 0 && exchange_.TakeHanded();
  const bool finished = FinishBarrier();
  return exchange_.CopyAnswers() || finished || took || spread || heard;
}

bool Job::SpreadParticipants() {
  Segment& first = NodeOf(0).segment;
  if (p_ != 0 || first.header().bell.begun.load(std::memory_order_acquire) == 0) return false;
  p_ = first.header().participants.value.load();
  exchange_.Start(p_);
  for (auto& node : nodes_) {
    for (std::uint32_t i = 0; i < p_; ++i) node->here += node->segment.IsHere(Pid{i}) ? 1 : 0;
    if (node != nodes_[plan_.node_of[0]]) node->segment.header().participants.Publish(p_);
  }
  return true;
}

// ---- The exchange -----------------------------------------------------------------------------

bool Job::FinishBarrier() {
  for (const auto& node : nodes_) {
    const std::uint32_t arrived = node->segment.header().bell.barriers.load();
    if (node->here != 0 && arrived != released_ + 1) return false;
  }
  exchange_.TakeHanded();
  const BarrierFlags all = SumFlags();
  if (StartsASuperstep(released_)) {
    if (released_ != 0) exchange_.Exchange();
    exchange_.BeginSuperstep(plan_.check_full ? released_ / 2 : released_);
  }
  if (all.ending != 0) CopyEnds();
  Release(all);
  return true;
}

void Job::CopyEnds() {
  for (const auto& node : nodes_) {
    for (std::uint32_t i = 0; i < p_; ++i) {
      node->segment.cell(Pid{i}).in_end = NodeOf(i).segment.cell(Pid{i}).in_end;
    }
  }
}

BarrierFlags Job::SumFlags() {
  BarrierFlags all;
  for (const auto& node : nodes_) {
    const BarrierPhase& phase = node->segment.header().barrier.phases[released_ & 1];
    BSP_CHECK_OP(phase.arrived.load(), ==, node->here);
    all.data += phase.with_data;
    all.gets += phase.with_gets;
    all.votes += phase.with_votes;
    all.ending += phase.ending;
    all.groups += phase.with_groups;
    all.by_count += phase.by_count;
  }
  return all;
}

void Job::Release(const BarrierFlags& all) {
  const std::uint32_t superstep = plan_.check_full ? released_ / 2 - 1 : released_ - 1;
  const bool may_save =
      released_ != 0 && StartsASuperstep(released_) && all.ending == 0 && all.groups == 0;
  checkpoints_.Serve(p_);  // What they reported of the last image, before they arrived.
  const std::uint32_t save = may_save ? checkpoints_.Order(first_superstep_ + superstep) : 0;
  for (const auto& node : nodes_) {
    BarrierPhase& phase = node->segment.header().barrier.phases[released_ & 1];
    phase.with_data = all.data;
    phase.with_gets = all.gets;
    phase.with_votes = all.votes;
    phase.ending = all.ending;
    phase.by_count = all.by_count;
    phase.save = save;
    ReleaseBarrier(node->segment.header().barrier, released_);
  }
  released_ += 1;
}

}  // namespace

JobOutcome RunOnNodes(const NodesPlan& plan, const std::function<void(Process&)>& program) {
  return Job(plan, program, {}).Run();
}

JobOutcome ResumeOnNodes(const NodesPlan& plan, ImagesForTest images) {
  return Job(plan, std::move(images)).Run();
}

JobOutcome RerunOnNodes(const NodesPlan& plan, ImagesForTest images,
                        const std::function<void(Process&)>& program) {
  return Job(plan, program, std::move(images)).Run();
}

void ExpectAllEndWell(const JobOutcome& outcome) {
  for (const int status : outcome.statuses) EXPECT_EQ(status, 0);
  EXPECT_EQ(outcome.errors, "");
}

void Require(bool condition, const char* claim) {  // tidy: an assertion
  if (condition) return;
  dprintf(STDERR_FILENO, "failed: %s\n", claim);
  _exit(1);
}

}  // namespace bspnow::runtime
