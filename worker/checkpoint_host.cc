#include "worker/checkpoint_host.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "worker/images/image_name.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kReportTimeoutNs = 600'000'000'000;

/// Children of a process that still run.
bool HasChild(pid_t os_pid) {
  std::error_code error;
  const std::string tasks = absl::StrCat("/proc/", os_pid, "/task");
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) {
      std::ifstream stat(absl::StrCat("/proc/", child, "/stat"));
      std::string text;
      std::getline(stat, text);
      const std::size_t name_end = text.rfind(')');  // The state comes behind it and a blank.
      if (name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z") return true;
    }
  }
  return false;
}

absl::StatusOr<UniqueFd> OpenImageDirectory(const std::string& path) {
  if (path.empty()) return absl::FailedPreconditionError("this node has no store for images");
  UniqueFd directory;
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) {
    directory = UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  if (directory.valid()) return directory;
  return absl::InternalError(absl::StrCat("opening ", path, ": ", strerror(errno)));
}

std::vector<GivenFile> GivenFiles(const proto::HostPlan& plan) {
  std::vector<GivenFile> files;
  for (const proto::KnownFile& file : plan.given()) {
    files.push_back({.name = file.name(), .bytes = file.bytes(), .changed_ns = file.changed_ns()});
  }
  return files;
}

}  // namespace

CheckpointHost::CheckpointHost(const proto::HostPlan& plan, int segment,
                               CheckpointHostEvents events)
    : plan_(plan), segment_(segment), events_(std::move(events)) {}

// ---- The processes ------------------------------------------------------------------------------

void CheckpointHost::OnAsked(Pid pid) {
  asked_.insert(pid);
  BeginIfAllAsked();
}

void CheckpointHost::OnReported(Pid pid, const LinkImageReport& report) {
  const std::string reason =
      report.written != 0 ? "" : absl::StrCat(report.reason[0] == 0 ? "no reason" : report.reason);
  if (report.checkpoint != checkpoint_ || pending_.erase(pid) == 0) {
    // Of an image that has been given up, unless it refuses the one that the others ask for.
    if (report.checkpoint > checkpoint_ && !reason.empty()) {
      refused_[pid] = reason;
      BeginIfAllAsked();
    }
    return;
  }
  events_.report({.kind = HostReport::kImage,
                  .pid = pid,
                  .number = checkpoint_,
                  .text = reason,
                  .file_bytes = report.file_bytes,
                  .cpu_ns = report.cpu_ns});
}

void CheckpointHost::OnGone(Pid pid, const std::string& why) {
  gone_.try_emplace(pid, why);
  asked_.erase(pid);
  if (pending_.erase(pid) != 0) {
    Fail(checkpoint_, pid, absl::StrCat("before its image was written, ", why));
  }
  BeginIfAllAsked();
}

bool CheckpointHost::TakesPart(Pid pid) const {
  const auto& header = *reinterpret_cast<const NodeHeader*>(header_.data());
  return Value(pid) < header.participants.value.load();
}

// ---- The barrier --------------------------------------------------------------------------------

void CheckpointHost::BeginIfAllAsked() {
  if (asked_.empty()) return;
  if (!header_.valid()) header_ = MappedRegion::Shared(segment_, sizeof(NodeHeader));
  if (!header_.valid()) return;  // No memory is left: the processes wait for their end.
  for (const proto::HostedProcess& process : plan_.processes()) {
    const Pid pid{process.pid()};
    const bool known = asked_.contains(pid) || gone_.contains(pid) || refused_.contains(pid);
    if (TakesPart(pid) && !known) return;
  }
  Begin();
}

void CheckpointHost::Begin() {
  const std::uint64_t checkpoint =
      reinterpret_cast<const NodeHeader*>(header_.data())->image.checkpoint;
  for (const proto::HostedProcess& process : plan_.processes()) {
    const Pid pid{process.pid()};
    if (!TakesPart(pid)) continue;
    const OutputCounts counts = events_.drain(pid);
    events_.report({.kind = HostReport::kSaving,
                    .pid = pid,
                    .number = checkpoint,
                    .output_bytes = counts.output_bytes,
                    .error_bytes = counts.error_bytes});
  }
  for (const auto& [pid, reason] : std::exchange(refused_, {})) Fail(checkpoint, pid, reason);
  for (const auto& [pid, why] : gone_) {
    if (TakesPart(pid)) Fail(checkpoint, pid, why);
  }
  if (!refusal_.empty()) return GiveUp(checkpoint, refusal_);
  if (!pending_.empty() || archiver_ != 0) {
    return GiveUp(checkpoint, absl::StrCat("checkpoint ", checkpoint_, " is still being written"));
  }
  checkpoint_ = checkpoint;
  since_ns_ = 0;
  absl::StatusOr<NotedFiles> files = NotedFiles::Note(plan_.job_directory(), GivenFiles(plan_));
  if (!files.ok()) return GiveUp(checkpoint, std::string(files.status().message()));
  const absl::StatusOr<UniqueFd> directory = OpenImageDirectory(plan_.image_directory());
  if (!directory.ok()) return GiveUp(checkpoint, std::string(directory.status().message()));
  for (const Pid pid : std::exchange(asked_, {})) {
    pending_[pid];
    events_.answer(pid, directory->get());
  }
  Archive(*files);
}

void CheckpointHost::GiveUp(std::uint64_t checkpoint, const std::string& reason) {
  for (const Pid pid : std::exchange(asked_, {})) {
    events_.answer(pid, -1);
    Fail(checkpoint, pid, reason);
  }
  ReportFiles(checkpoint, reason);
}

void CheckpointHost::Fail(std::uint64_t checkpoint, Pid pid, const std::string& reason) {
  events_.report({.kind = HostReport::kImage, .pid = pid, .number = checkpoint, .text = reason});
}

void CheckpointHost::ReportFiles(std::uint64_t checkpoint, const std::string& reason) {
  events_.report(
      {.kind = HostReport::kFiles, .pid = files_pid(), .number = checkpoint, .text = reason});
}

// ---- The files ----------------------------------------------------------------------------------

std::string CheckpointHost::ArchivePath() const {
  return absl::StrCat(plan_.image_directory(), "/", FilesName(checkpoint_, Value(files_pid())),
                      kBeingWritten.data());
}

// In a child, since it may take long. It has a copy of what was noted in memory.
void CheckpointHost::Archive(const NotedFiles& files) {
  int ends[2] = {-1, -1};
  UniqueFd archive(open(ArchivePath().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const bool has_pipe = pipe2(ends, O_CLOEXEC) == 0;
  const UniqueFd reason(ends[1]);
  archive_failure_ = UniqueFd(ends[0]);
  const pid_t parent = getpid();
  archiver_ = archive.valid() && has_pipe ? fork() : -1;
  if (archiver_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const absl::Status written = files.Write(archive.get(), events_.unfinished());
    const std::string message(written.message());
    [[maybe_unused]] const ssize_t n = write(reason.get(), message.data(), message.size());
    _exit(written.ok() ? 0 : 1);
  }
  if (archiver_ > 0) return;
  const int error = errno;
  archiver_ = 0;
  ReportFiles(checkpoint_,
              absl::StrCat("beginning to write ", ArchivePath(), ": ", strerror(error)));
}

void CheckpointHost::OnOtherExited(pid_t os_pid, int wait_status) {
  if (archiver_ == 0 || os_pid != archiver_) return;
  archiver_ = 0;
  std::string reason;
  if (wait_status != 0) {
    char text[PIPE_BUF];
    const ssize_t n = read(archive_failure_.get(), text, sizeof text);
    reason = n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "the writer was killed";
  }
  archive_failure_.Reset();
  ReportFiles(checkpoint_, reason);
}

// ---- Writers that were killed -------------------------------------------------------------------

void CheckpointHost::CheckWriters(std::uint64_t now_ns) {
  if (since_ns_ == 0) since_ns_ = now_ns;
  std::map<Pid, std::string> failed;
  for (auto& [pid, pending] : pending_) {
    const bool writes = HasChild(events_.os_pid(pid));
    if (pending.writer_missed && !writes) failed[pid] = "the writer of its image was killed";
    pending.writer_missed = pending.writer_seen && !writes;
    pending.writer_seen |= writes;
    if (now_ns - since_ns_ > kReportTimeoutNs) failed[pid] = "its image was not done in 10 min";
  }
  for (const auto& [pid, reason] : failed) {
    pending_.erase(pid);
    Fail(checkpoint_, pid, reason);
  }
}

}  // namespace bspnow
