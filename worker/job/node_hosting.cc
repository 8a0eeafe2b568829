// All jobs of a node, and what they share: its disk, and whose processes they leave behind.
#include <absl/strings/str_cat.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/directory_listing.h"
#include "base/remove_tree.h"
#include "worker/host/leftovers.h"
#include "worker/job/node_job.h"

namespace bspnow::worker {
namespace {

// Of the 128 TiB of an x86-64 process, for the segments of all jobs. None takes more than a part of
// what is left, so that there is always some for one more.
constexpr std::uint64_t kAddressSpaceBytesInAll = std::uint64_t{96} << 40;
constexpr std::uint64_t kAddressSpaceParts = 16;

constexpr std::uint64_t kOrphansMs = 20;
constexpr std::uint64_t kDiskMs = 500;

// Of two workers in one control group.
std::string CgroupPrefix(const std::string& jobs_directory) {
  struct stat status {};
  stat(jobs_directory.c_str(), &status);  // Numbers of files are the same on other file systems.
  return absl::StrCat("bspnow-", status.st_dev, "-", status.st_ino, "-");
}

}  // namespace

NodeHosting::NodeHosting(NodeParts parts)
    : parts_(std::move(parts)), cgroup_prefix_(CgroupPrefix(parts_.jobs_directory)) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Who lives would make files where they are removed.
  ended_cgroups_ = JobCgroup::Left(parts_.cgroups, cgroup_prefix_);
  KillOrphans();
  for (const std::string& name : ListDirectory(parts_.jobs_directory).names)
    RemoveTree(absl::StrCat(parts_.jobs_directory, "/", name));
  if (!parts_.accounts.are_of_a_pool()) return;
  for (const Account& account : parts_.accounts.known())
    if (absl::Status s = RemoveLeftovers(account, CommonDirectories()); !s.ok())
      spdlog::warn("event=account_not_cleared account={} reason=\"{}\"", account.name,
                   std::string(s.message()));
}

std::optional<JobCgroup> NodeHosting::MakeCgroup(JobId job, Epoch epoch,
                                                 const JobLimits& limits) const {
  const std::string name = absl::StrCat(cgroup_prefix_, Value(job), "-", Value(epoch));
  std::optional<JobCgroup> group = JobCgroup::Make(parts_.cgroups, name, limits);
  if (!parts_.cgroups.memory.empty() && (!group || group->memory_bytes() == 0))
    spdlog::warn("event=memory_not_limited job={} reason=\"the control group {}/{} {}\"",
                 Value(job), parts_.cgroups.memory, name,
                 group ? "takes no limit" : "cannot be made");
  return group;
}

void NodeHosting::EndCgroupOf(std::optional<JobCgroup>& cgroup) {
  if (cgroup) ended_cgroups_.push_back(std::move(*cgroup));
  cgroup.reset();
}

std::unique_ptr<JobHost> NodeHosting::Host(HostedJob& job) {
  auto host = std::make_unique<NodeJob>(*this, job);
  jobs_.insert(host.get());
  WatchDisk();
  return host;
}

std::uint64_t NodeHosting::AddressSpaceBytes() const {
  std::uint64_t taken = 0;
  for (const NodeJob* const job : jobs_) taken += job->segment_bytes();
  return (kAddressSpaceBytesInAll - std::min(taken, kAddressSpaceBytesInAll)) / kAddressSpaceParts;
}

NodeHosting::~NodeHosting() {
  parts_.loop.CancelTimer(orphan_timer_);
  parts_.loop.CancelTimer(disk_timer_);
}

bool NodeHosting::HasOlderEpoch(const NodeJob& job) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&job](const NodeJob* other) {
    return other->id() == job.id() && other->epoch() < job.epoch();
  });
}

void NodeHosting::OnDirectoryGone(NodeJob& job) {
  jobs_.erase(&job);
  for (NodeJob* const other : jobs_) {
    if (!HasOlderEpoch(*other)) other->PrepareAfterOlder();
  }
}

void NodeHosting::Forget(NodeJob& job) {
  jobs_.erase(&job);
  KillOrphans();
}

// Orphans come to us if a bsp-host was killed: then nobody else knows of them. What such a one has
// started comes next; and one that is slow to die keeps nobody waiting.
void NodeHosting::KillOrphans() {
  parts_.loop.CancelTimer(std::exchange(orphan_timer_, kNoTimer));
  std::erase_if(ended_cgroups_, [](JobCgroup& group) { return group.End(); });
  std::set<pid_t> hosts;
  for (const NodeJob* const job : jobs_) hosts.insert(job->host_os_pid());
  std::ifstream file(absl::StrCat("/proc/self/task/", getpid(), "/children"));
  bool any = !ended_cgroups_.empty();
  for (pid_t child; file >> child;) {
    if (hosts.contains(child)) continue;
    any = true;
    kill(child, SIGKILL);
    waitpid(child, nullptr, WNOHANG);
  }
  if (any) orphan_timer_ = parts_.loop.AddTimer(kOrphansMs, [this] { KillOrphans(); });
}

// ---- The disk that all share --------------------------------------------------------------------

void NodeHosting::WatchDisk() {
  if (disk_timer_ != kNoTimer || jobs_.empty()) return;
  disk_timer_ = parts_.loop.AddTimer(kDiskMs, [this] {
    disk_timer_ = kNoTimer;
    LookAtDisk();
    WatchDisk();
  });
}

namespace {

// No job ends while something else can be given up: contents can be fetched again,
std::optional<DiskRoom> RoomWithoutIdle(const NodeParts& parts) {
  const std::optional<DiskRoom> room = RoomAt(parts.jobs_directory);
  const bool lacks = room && room->missing_bytes() > 0;
  if (!lacks || !parts.cache.RemoveIdle(room->missing_bytes())) return room;
  return RoomAt(parts.jobs_directory);
}

// and a checkpoint that is being written finds too little room when it is, and goes.
DiskRoom WithoutUnfinished(DiskRoom room, const NodeParts& parts) {
  if (room.missing_bytes() > 0)
    room.free_bytes += parts.images.unfinished_bytes_beside(parts.jobs_directory);
  return room;
}

}  // namespace

// One job at a time: what its end makes free may be enough.
void NodeHosting::LookAtDisk() {
  const auto ends = [](const NodeJob* job) { return job->ends_for_disk(); };
  if (looks_at_disk_ || std::any_of(jobs_.begin(), jobs_.end(), ends)) return;
  looks_at_disk_ = true;
  std::vector<JobFilesHere> files;
  for (const NodeJob* const job : jobs_)
    if (std::optional<JobFilesHere> here = job->FilesHere()) files.push_back(*std::move(here));
  parts_.threads.brief.Run([this, &loop = parts_.loop, files = std::move(files)] {
    const std::optional<DiskRoom> room = RoomWithoutIdle(parts_);
    const std::optional<FilledBy> who =
        room ? WhoFills(WithoutUnfinished(*room, parts_), files) : std::nullopt;
    loop.Post([this, room, who] {
      looks_at_disk_ = false;
      if (who) OnDiskFilled(*who, *room);
    });
  });
}

void NodeHosting::OnDiskFilled(const FilledBy& who, const DiskRoom& room) {
  for (NodeJob* const job : jobs_)
    if (job->id() == who.files.job && job->epoch() == who.files.epoch && job->FilesHere())
      return job->EndForDisk(who, room);
}

}  // namespace bspnow::worker
