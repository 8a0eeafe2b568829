#include "worker/host/checkpoint_host.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/directory_listing.h"
#include "worker/checkpoint/image_name.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kReportTimeoutNs = 600'000'000'000;
constexpr std::uint64_t kAskTimeoutNs = 10'000'000'000;  // All have left the barrier by then.

/// One that still runs.
struct Running {
  std::uint64_t ticks = 0;  ///< Of processor time that it has used.
  std::string exit_signal;  ///< That it sends its parent at its end; "0": none.
};

std::optional<Running> LookAt(pid_t os_pid) {
  std::ifstream stat(absl::StrCat("/proc/", os_pid, "/stat"));
  std::string text;
  std::getline(stat, text);
  const std::size_t name_end = text.rfind(')');  // The state comes after it and a blank.
  if (name_end == std::string::npos || text.substr(name_end + 2, 1) == "Z") return std::nullopt;
  Running running;
  std::istringstream words(text.substr(name_end + 2));
  for (int field = 3; words >> running.exit_signal && field < 38; ++field) {  // See proc(5).
    std::uint64_t ticks = 0;
    if ((field == 14 || field == 15) && absl::SimpleAtoi(running.exit_signal, &ticks))
      running.ticks += ticks;
  }
  return running;
}

/// Of images of a process.
struct Writers {
  bool any = false;
  std::uint64_t ticks = 0;  ///< All together.
};

/// A program that names its areas may have children of its own, and any may make some while its
/// image is written: those send it a signal at their end, a writer sends none.
Writers WritersOf(pid_t os_pid) {
  Writers writers;
  const std::string tasks = absl::StrCat("/proc/", os_pid, "/task");
  for (const std::string& task : ListDirectory(tasks).names) {
    std::ifstream file(absl::StrCat(tasks, "/", task, "/children"));
    for (pid_t child; file >> child;) {
      const std::optional<Running> running = LookAt(child);
      if (!running || running->exit_signal != "0") continue;
      writers.any = true;
      writers.ticks += running->ticks;
    }
  }
  return writers;
}

absl::StatusOr<UniqueFd> OpenImageDirectory(const std::string& path) {
  if (path.empty()) return absl::FailedPreconditionError("this node has no store for images");
  // A disk that takes nothing holds up whoever makes a directory on it, even one that is there; and
  // so does one that is gone whoever opens it, see ImagePlace.
  const auto open_it = [&path] {
    return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  };
  UniqueFd directory = open_it();
  if (!directory.valid() && errno == ENOENT && mkdir(path.c_str(), 0700) == 0)
    directory = open_it();
  if (directory.valid()) return directory;
  return absl::InternalError(absl::StrCat("opening ", path, ": ", strerror(errno)));
}

std::vector<files::GivenFile> GivenFiles(const proto::HostPlan& plan) {
  std::vector<files::GivenFile> files;
  for (const proto::KnownFile& file : plan.given()) {
    files.push_back({.name = file.name(),
                     .bytes = file.bytes(),
                     .changed_ns = file.changed_ns(),
                     .mode = file.mode()});
  }
  return files;
}

}  // namespace

CheckpointHost::CheckpointHost(const proto::HostPlan& plan, int segment, CheckpointOwner& owner)
    : plan_(plan),
      segment_(segment),
      owner_(owner),
      image_place_(OpenImageDirectory, kImagePlaceMs) {}

// ---- The processes ------------------------------------------------------------------------------

void CheckpointHost::OnAsked(Pid pid) {
  if (late_.erase(pid) != 0) {  // It may take part in the next one.
    gone_.erase(pid);
    return owner_.AnswerImagePlace(pid, -1);
  }
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
  for (proto::StoredImage& image : *images_.mutable_images()) {
    if (Pid{image.pid()} != pid) continue;
    image.set_file_bytes(report.file_bytes);
    image.set_cpu_ns(report.cpu_ns);
  }
  if (!reason.empty()) Fail(pid, reason);
  FinishIfDone();
}

void CheckpointHost::OnGone(Pid pid, const std::string& why) {
  gone_.try_emplace(pid, why);
  asked_.erase(pid);
  if (pending_.erase(pid) != 0) {
    Fail(pid, absl::StrCat("before its image was written, ", why));
    FinishIfDone();
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
    if (Awaits(Pid{process.pid()})) return;
  }
  Begin();
}

bool CheckpointHost::Awaits(Pid pid) const {
  const bool known = asked_.contains(pid) || gone_.contains(pid) || refused_.contains(pid);
  return TakesPart(pid) && !known;
}

void CheckpointHost::Begin() {
  const std::uint64_t checkpoint =
      reinterpret_cast<const NodeHeader*>(header_.data())->image.checkpoint;
  proto::CheckpointStored images;
  images.set_checkpoint(checkpoint);
  for (const proto::HostedProcess& process : plan_.processes()) {
    const Pid pid{process.pid()};
    if (!TakesPart(pid)) continue;
    const OutputCounts counts = owner_.DrainOutput(pid);
    proto::StoredImage& image = *images.add_images();
    image.set_pid(process.pid());
    image.set_output_bytes(counts.output_bytes);
    image.set_error_bytes(counts.error_bytes);
  }
  const std::map<Pid, std::string> refused = std::exchange(refused_, {});
  if (!refusal_.empty()) return GiveUp(checkpoint, refusal_);
  if (!pending_.empty() || archiver_ != 0 || HasStuckWriter()) {
    return GiveUp(checkpoint, absl::StrCat("checkpoint ", checkpoint_, " is still being written"));
  }
  absl::StatusOr<files::NotedFiles> files =
      files::NotedFiles::Note(plan_.job_directory(), GivenFiles(plan_));
  if (!files.ok()) return GiveUp(checkpoint, std::string(files.status().message()));
  const absl::StatusOr<UniqueFd> directory = image_place_.Take(plan_.image_directory());
  if (!directory.ok()) return GiveUp(checkpoint, std::string(directory.status().message()));
  checkpoint_ = checkpoint;
  since_ns_ = 0;
  images_ = std::move(images);
  failure_.clear();
  for (const auto& [pid, reason] : refused) Fail(pid, reason);
  for (const auto& [pid, why] : gone_) {
    if (TakesPart(pid)) Fail(pid, why);
  }
  for (const Pid pid : std::exchange(asked_, {})) {
    pending_[pid];
    owner_.AnswerImagePlace(pid, directory->get());
  }
  Archive(*files);
}

// Its process would wait for it before it begins another image.
bool CheckpointHost::HasStuckWriter() {
  std::erase_if(stuck_, [this](Pid pid) { return !WritersOf(owner_.OsPidOf(pid)).any; });
  return !stuck_.empty();
}

void CheckpointHost::GiveUp(std::uint64_t checkpoint, const std::string& reason) {
  const std::set<Pid> asked = std::exchange(asked_, {});
  for (const Pid pid : asked) owner_.AnswerImagePlace(pid, -1);
  if (std::exchange(given_up_, checkpoint) == checkpoint) return;
  ReportFailed(checkpoint, absl::StrCat("pid ", Value(*asked.begin()), ": ", reason));
}

void CheckpointHost::Fail(Pid pid, const std::string& reason) {
  if (failure_.empty()) failure_ = absl::StrCat("pid ", Value(pid), ": ", reason);
}

void CheckpointHost::FailFiles(const std::string& reason) {
  if (failure_.empty()) failure_ = absl::StrCat("the files of the job: ", reason);
}

void CheckpointHost::FinishIfDone() {
  if (!pending_.empty() || archiver_ != 0) return;
  if (!failure_.empty()) return ReportFailed(checkpoint_, failure_);
  proto::WorkerEvent event;
  *event.mutable_checkpoint_stored() = std::move(images_);
  owner_.Report(std::move(event));
}

void CheckpointHost::ReportFailed(std::uint64_t checkpoint, const std::string& reason) {
  proto::WorkerEvent event;
  event.mutable_checkpoint_failed()->set_checkpoint(checkpoint);
  event.mutable_checkpoint_failed()->set_reason(reason);
  owner_.Report(std::move(event));
}

// ---- The files ----------------------------------------------------------------------------------

std::string CheckpointHost::ArchivePath() const {
  return absl::StrCat(plan_.image_directory(), "/", FilesName(checkpoint_, Value(files_pid())),
                      kBeingWritten.data());
}

absl::Status CheckpointHost::WriteArchive(const files::NotedFiles& files) const {
  const std::string path = ArchivePath();
  const UniqueFd archive(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (archive.valid()) return files.Write(archive.get(), owner_.UnfinishedLines());
  return absl::InternalError(absl::StrCat("beginning to write ", path, ": ", strerror(errno)));
}

// In a child, since it may take long, or hang. It has a copy of what was noted in memory.
void CheckpointHost::Archive(const files::NotedFiles& files) {
  int ends[2] = {-1, -1};
  const bool has_pipe = pipe2(ends, O_CLOEXEC) == 0;
  const UniqueFd reason(ends[1]);
  archive_failure_ = UniqueFd(ends[0]);
  const pid_t parent = getpid();
  archiver_ = has_pipe ? fork() : -1;
  if (archiver_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const absl::Status written = WriteArchive(files);
    const std::string message(written.message());
    [[maybe_unused]] const ssize_t n = write(reason.get(), message.data(), message.size());
    _exit(written.ok() ? 0 : 1);
  }
  if (archiver_ > 0) return;
  const int error = errno;
  archiver_ = 0;
  FailFiles(absl::StrCat("beginning to write ", ArchivePath(), ": ", strerror(error)));
}

void CheckpointHost::OnOtherExited(pid_t os_pid, int wait_status) {
  if (archiver_ == 0 || os_pid != archiver_) return;
  archiver_ = 0;
  if (wait_status != 0) {
    char text[PIPE_BUF];
    const ssize_t n = read(archive_failure_.get(), text, sizeof text);
    FailFiles(n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "the writer was killed");
  }
  archive_failure_.Reset();
  FinishIfDone();
}

// ---- What is waited for in vain -----------------------------------------------------------------

void CheckpointHost::CheckWaits(std::uint64_t now_ns) {
  CheckAsked(now_ns);
  CheckWriters(now_ns);
}

// One that has closed its link cannot say so, and there is no end of the link to be seen while a
// child of it has a copy.
void CheckpointHost::CheckAsked(std::uint64_t now_ns) {
  if (asked_.empty()) asked_since_ns_ = 0;
  if (asked_.empty() || !header_.valid()) return;
  if (asked_since_ns_ == 0) asked_since_ns_ = now_ns;
  if (now_ns - asked_since_ns_ < kAskTimeoutNs) return;
  for (const proto::HostedProcess& process : plan_.processes()) {
    const Pid pid{process.pid()};
    if (!Awaits(pid)) continue;
    late_.insert(pid);
    gone_[pid] =
        "it did not come within 10 s of the others: it was stopped, or has closed its link "
        "to bspnow, which a child of it still has";
  }
  BeginIfAllAsked();
}

// An image may take long, but its writer has to go on: it sums up what it writes. (To look at its
// file would keep this process waiting, too, where a file server does not answer.)
void CheckpointHost::CheckWriters(std::uint64_t now_ns) {
  if (since_ns_ == 0) since_ns_ = now_ns;
  std::map<Pid, std::string> failed;
  for (auto& [pid, pending] : pending_) {
    const Writers writers = WritersOf(owner_.OsPidOf(pid));
    if (pending.writer_missed && !writers.any) failed[pid] = "the writer of its image was killed";
    pending.writer_missed = pending.writer_seen && !writers.any;
    pending.writer_seen |= writers.any;
    if (std::exchange(pending.ticks, writers.ticks) != writers.ticks) pending.since_ns = now_ns;
    const bool stands = now_ns - std::max(since_ns_, pending.since_ns) > kReportTimeoutNs;
    if (stands) failed[pid] = "its image did not get on for 10 min: does the disk answer?";
    if (stands && writers.any) stuck_.insert(pid);
  }
  for (const auto& [pid, reason] : failed) {
    pending_.erase(pid);
    Fail(pid, reason);
  }
  // The same of the files, which are summed up, too.
  const std::uint64_t ticks = archiver_ == 0 ? 0 : LookAt(archiver_).value_or(Running{}).ticks;
  if (std::exchange(archive_ticks_, ticks) != ticks) archive_since_ns_ = now_ns;
  const bool files_failed =
      archiver_ != 0 && now_ns - std::max(since_ns_, archive_since_ns_) > kReportTimeoutNs;
  if (files_failed) {
    kill(std::exchange(archiver_, 0), SIGKILL);
    archive_failure_.Reset();
    FailFiles("nothing was written of them for 10 min: does the disk answer?");
  }
  if (!failed.empty() || files_failed) FinishIfDone();
}

}  // namespace bspnow::worker
