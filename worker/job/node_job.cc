#include "worker/job/node_job.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/units.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kWatchMs = 2'000;
constexpr std::uint64_t kBarrierPatienceNs = 5'000'000'000;
constexpr int kLateShownMax = 16;

constexpr std::uint64_t kReservedParts = 20;
// What the kernel and bsp-host take for a job: page tables, pipes, bsp-host itself.
constexpr std::uint64_t kOwnBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kOwnBytesOfProcess = std::uint64_t{1} << 20;
constexpr std::uint64_t kTasksOfProcess = 512;
constexpr std::uint64_t kOwnTasks = 64;

}  // namespace

NodeJob::NodeJob(NodeHosting& hosting, HostedJob& job)
    : hosting_(hosting),
      parts_(hosting.parts_),
      job_(job),
      id_(JobId{job.start().job()}),
      epoch_(Epoch{job.start().epoch()}) {}

NodeJob::~NodeJob() {
  parts_.loop.CancelTimer(watch_timer_);
  parts_.loop.CancelTimer(keep_timer_);
  StopExchange();
  host_.reset();
  hosting_.EndCgroupOf(cgroup_);
  hosting_.Forget(*this);
}

// The worker adds what it alone knows; what a process reached is in the segment.
void NodeJob::OnHostEvent(proto::WorkerEvent event) {
  if (event.has_exited()) {
    proto::ProcessExited& exited = *event.mutable_exited();
    exited.set_reached(static_cast<std::uint32_t>(segment_->state(Pid{exited.pid()})));
    exited.set_superstep(Value(segment_->superstep(Pid{exited.pid()})));
    if (exited.signal() == SIGKILL) exited.set_killed_for(TellOfMemory());
  }
  const bool failed = event.has_checkpoint_failed();
  // For want of memory, perhaps; then it was the writer of an image that the kernel killed, which
  // goes first, and no process that ends later was. One that was killed has been told of by now.
  if (failed) {
    if (cgroup_) cgroup_->TakeMemoryKill();
    kills_here_.Take();
  }
  if ((failed && !segment_->TakeOutcome(event.checkpoint_failed().checkpoint())) ||
      (event.has_checkpoint_stored() &&
       !segment_->TakeOutcome(event.checkpoint_stored().checkpoint())))
    return;
  if (event.has_checkpoint_stored()) {
    proto::CheckpointStored& stored = *event.mutable_checkpoint_stored();
    stored.set_participants(segment_->participants());
    for (proto::StoredImage& image : *stored.mutable_images()) {
      image.set_pause_ns(segment_->image_pause_ns(Pid{image.pid()}));
    }
  }
  if (event.has_not_started()) {
    // As local bsprun says it: without the place where the program happens to lie here.
    std::string& reason = *event.mutable_not_started()->mutable_reason();
    const std::string here = directory_->path() + "/";
    if (absl::StartsWith(reason, here)) reason.erase(0, here.size());
  }
  job_.OnHostEvent(std::move(event));
}

// A job without --memory may fill the node, but not to the last page.
JobLimits NodeJob::Limits() const {
  const std::uint64_t processes = pids_.size();
  const std::uint64_t each = job_.start().spec().memory_bytes();
  const std::uint64_t most = parts_.memory_bytes - parts_.memory_bytes / kReservedParts;
  const std::uint64_t wanted = (each + kOwnBytesOfProcess) * processes + kOwnBytes;
  return {.memory_bytes = each == 0 ? most : std::min(most, wanted),
          .tasks = kTasksOfProcess * processes + kOwnTasks,
          .processes = processes};
}

// The job ends by it: with the same memory it would come to the same again. Not if it was somebody
// else who was killed, who writes an image, say, and the processes go on; nor if its neighbours
// have the memory: elsewhere, or later, there may be enough.
std::string NodeJob::TellOfMemory() {
  if (job_.ending() || ends_for_disk_) return "";
  if (!cgroup_ || cgroup_->memory_bytes() == 0)
    return kills_here_.Take()
               ? "probably for want of memory on its node: the kernel has just killed "
                 "a process there for that"
               : "";
  const MemoryKill kill = cgroup_->TakeMemoryKill();
  if (kill == MemoryKill::kNone) return "";
  if (kill == MemoryKill::kElsewhere)
    return absl::StrCat("for want of memory on its node: the job had at most ",
                        cgroup_->peak_bytes() >> 20, " of the ", cgroup_->memory_bytes() >> 20,
                        " MiB that it may have there");
  const std::uint64_t each = job_.start().spec().memory_bytes();
  Break(absl::StrCat(
      "out of memory: together the job's ", pids_.size(), " processes on this node may have ",
      cgroup_->memory_bytes() >> 20, " MiB, messages included (",
      each == 0 ? "the node's memory"
                : absl::StrCat("--memory ", each >> 20, "M each; more with a larger --memory"),
      "); the kernel has killed one of them"));
  return "";
}

// There it would come to the same again. Its processes go at once: until the coordinator has noted
// it, or is back, they could write what is left.
void NodeJob::EndForDisk(const FilledBy& who, const DiskRoom& room) {
  ends_for_disk_ = true;
  const std::string disk =
      absl::StrCat("the disk of node ", job_.start().hosts(static_cast<int>(job_.node())).node());
  const std::string advice =
      absl::StrCat(" there, more than any other job's (", parts_.jobs_directory, "); let it ");
  spdlog::warn("event=disk_full job={} bytes={} free_bytes={} inodes={} free_inodes={}", Value(id_),
               who.use.bytes, room.free_bytes, who.use.inodes, room.free_inodes);
  Break(who.lacking == Lacking::kBytes
            ? absl::StrCat(disk, " is nearly full: of its ", room.bytes >> 20, " MiB ",
                           room.free_bytes >> 20, " are left, and the job's files take ",
                           who.use.bytes >> 20, advice, "write less, or elsewhere")
            : absl::StrCat(disk, " has nearly no inodes: of its ", room.inodes, " ",
                           room.free_inodes, " are left, and the job's files and directories take ",
                           who.use.inodes, advice, "make fewer files, or elsewhere"));
  proto::HostOrder kill;
  kill.set_kill_all(true);
  Send(kill);
}

void NodeJob::Break(const std::string& reason) {
  job_.ReportBroken(ExchangeFault::kProgram, reason);
}

std::optional<JobFilesHere> NodeJob::FilesHere() const {
  if (!host_ || !directory_) return std::nullopt;
  return JobFilesHere{.job = id_,
                      .epoch = epoch_,
                      .directory = directory_->path(),
                      .processes = cgroup_ ? cgroup_->Members() : std::vector<pid_t>(),
                      .account = account_};
}

void NodeJob::OnHostGone() {
  if (job_.running() > 0) job_.OnHostKilled(TellOfMemory());
  host_.reset();
  hosting_.EndCgroupOf(cgroup_);
  hosting_.KillOrphans();  // Before the job's directory goes.
  job_.OnHostGone(segment_->ordered_image());
}

// Now and then, so that a superstep costs nothing by it.
void NodeJob::WatchBarrier() {
  watch_timer_ = kNoTimer;
  if (!segment_ || !host_) return;
  watch_timer_ = parts_.loop.AddTimer(kWatchMs, [this] { WatchBarrier(); });
  const std::uint64_t now_ns = NowNs();
  if (cgroup_) cgroup_->OnLook(now_ns);
  kills_here_.OnLook(now_ns);
  TellOfGroups(now_ns);
  if (const auto stuck = deadlock_watch_.OnLook(*segment_); !stuck.empty())
    Break(DeadlockText(stuck));
  TellOfStandstill(now_ns);
  const auto look = watch_.OnLook(LookAtBarrier(*segment_, pids_), now_ns, kBarrierPatienceNs);
  if (!look) return;
  proto::WorkerEvent event;
  proto::BarrierWait& wait = *event.mutable_barrier_wait();
  wait.set_arrived(look->arrived);
  wait.set_late_count(static_cast<std::uint32_t>(look->late.size()));
  wait.set_for_ms((now_ns - watch_.since_ns()) / kNsPerMs);
  for (const LateProcess& late : look->late) {
    if (wait.late_size() == kLateShownMax) break;
    proto::LateProcess& shown = *wait.add_late();
    shown.set_pid(Value(late.pid));
    shown.set_os_pid(late.os_pid);
    shown.set_lateness(static_cast<proto::Lateness>(late.lateness));
    shown.set_begun(late.begun);
    shown.set_superstep(late.messages.superstep);
    shown.set_messages_expected(late.messages.expected);
    shown.set_messages_here(late.messages.here);
  }
  job_.OnHostEvent(std::move(event));
}

void NodeJob::TellOfGroups(std::uint64_t now_ns) {
  GroupsLook look = LookAtGroups(*segment_);
  look.image = parts_.data_plane.WaitForImage(id_, epoch_);
  const auto word = groups_watch_.OnLook(look, now_ns, kBarrierPatienceNs);
  if (!word) return;
  proto::WorkerEvent event;
  proto::GroupsOpen& open = *event.mutable_groups_open();
  open.set_processes(word->in_groups);
  open.set_in_calls(word->in_calls);
  if (word->since_ns != 0) open.set_for_ms((now_ns - word->since_ns) / kNsPerMs);
  job_.OnHostEvent(std::move(event));
}

// ---- Processes that wait for each other

proto::StandStill NodeJob::Standstill() const {
  const auto heard_from = [this](std::uint64_t key, std::uint64_t barrier) {
    return parts_.data_plane.HeardFrom(id_, epoch_, GroupId{key}, barrier);
  };
  return StandStillOf(deadlock_watch_.facts(), segment_->segment(),
                      {.has_one_thread = HasOneThread, .heard_from = heard_from});
}

void NodeJob::TellOfStandstill(std::uint64_t now_ns) {
  if (!exchanging_ || job_.start().hosts_size() == 1) return;
  const std::uint64_t number = deadlock_watch_.standstill();
  const auto describe = [this] { return Standstill(); };
  const std::uint64_t look = std::exchange(ordered_look_, 0);
  const auto said = look == 0
                        ? standstill_watch_.OnLook(number, describe, now_ns, kBarrierPatienceNs)
                        : std::optional(standstill_watch_.Answer(number, describe, look));
  if (!said) return;
  proto::WorkerEvent event;
  *event.mutable_stand_still() = *said;
  job_.OnHostEvent(std::move(event));
}

void NodeJob::LookAgain(std::uint64_t look) {
  if (!segment_ || !host_) return;
  ordered_look_ = look;
  parts_.loop.CancelTimer(watch_timer_);
  watch_timer_ = parts_.loop.AddTimer(0, [this] { WatchBarrier(); });
}

void NodeJob::SayAgain() {
  watch_.SayAgain();
  groups_watch_.SayAgain();
  standstill_watch_.SayAgain();
}

void NodeJob::Send(const proto::HostOrder& order) {
  if (host_) host_->Send(order);
}

bool NodeJob::TakeInput(const proto::Input& input) {
  if (!input_) return true;
  const bool taken = input.data().empty() || input_->Write(input.offset(), input.data());
  if (input.end()) input_->Close();
  return taken;
}

void NodeJob::SetLease(std::uint64_t until_ns) {
  if (segment_) segment_->SetLease(until_ns);
}

void NodeJob::OrderImage(const proto::TakeCheckpoint& order) {
  if (!segment_) return;
  const ImagePlan plan{.checkpoint = order.checkpoint(),
                       .base = order.base(),
                       .after = order.hold() ? ImagePlan::After::kHold : ImagePlan::After::kGoOn};
  if (job_.start().direct()) return parts_.data_plane.OrderImage(id_, epoch_, plan);
  segment_->OrderImage(plan);
  segment_->RaiseWanted();
}

void NodeJob::ReleaseHeld(std::uint64_t checkpoint) {
  if (!segment_) return;
  parts_.data_plane.WithdrawImage(id_, epoch_, checkpoint);
  segment_->ReleaseHeld(checkpoint);
}

proto::HeldJob NodeJob::Progress() const {
  proto::HeldJob progress;
  if (!segment_) return progress;
  progress.set_participants(segment_->participants());
  progress.set_barriers(segment_->barriers());
  return progress;
}

// Before the segment goes.
void NodeJob::StopExchange() {
  if (std::exchange(exchanging_, false)) parts_.data_plane.RemoveJob(id_, epoch_);
}

}  // namespace bspnow::worker
