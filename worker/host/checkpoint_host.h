// bsp-host's part in a checkpoint of the processes that it hosts: when all of them have asked where
// to put their images none of them runs, so what they printed and the job's files are as they were
// at the barrier. Notes both, lets the processes go, and waits for the images, which children of
// theirs write; the files a child of its own writes to an archive beside them. Reports how it went
// when nobody writes any more.
#ifndef WORKER_HOST_CHECKPOINT_HOST_H_
#define WORKER_HOST_CHECKPOINT_HOST_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/mapped_region.h"
#include "base/unique_fd.h"
#include "files/job_files.h"
#include "proto/host.pb.h"
#include "proto/workers.pb.h"
#include "runtime/link/link.h"
#include "worker/host/image_place.h"
#include "worker/host/job_output.h"

namespace bspnow::worker {

/// Who hosts the processes.
class CheckpointOwner {
 public:
  virtual void AnswerImagePlace(Pid pid, int directory) = 0;  ///< -1: it takes no image.
  /// Reports what the process has printed; returns how much that was in all.
  virtual OutputCounts DrainOutput(Pid pid) = 0;
  virtual std::vector<files::UnfinishedLine> UnfinishedLines() const = 0;
  virtual pid_t OsPidOf(Pid pid) const = 0;
  virtual void Report(proto::WorkerEvent event) = 0;

 protected:
  ~CheckpointOwner() = default;
};

class CheckpointHost {
 public:
  /// All of these outlive it.
  CheckpointHost(const proto::HostPlan& plan, int segment, CheckpointOwner& owner);

  /// From now on none is begun, for this reason; empty: they are again.
  void Refuse(std::string reason) { refusal_ = std::move(reason); }

  /// The process waits for an answer.
  void OnAsked(Pid pid);

  void OnReported(Pid pid, const LinkImageReport& report);

  /// It has ended, or its link has. The first reason is kept.
  void OnGone(Pid pid, const std::string& why);

  /// A child that is no process of the job has ended; perhaps the one that writes the archive.
  void OnOtherExited(pid_t os_pid, int wait_status);

  /// To be called now and then, `now_ns` being NowNs(): an image whose writer was killed,
  /// or whose process does not ask, would be waited for in vain.
  void CheckWaits(std::uint64_t now_ns);

  bool under_way() const { return !asked_.empty() || !pending_.empty() || archiver_ != 0; }

 private:
  struct Pending {
    bool writer_seen = false;
    bool writer_missed = false;  ///< At the last look; its report may be on its way.
    std::uint64_t ticks = 0;     ///< Of processor time that its writer had used at the last look,
    std::uint64_t since_ns = 0;  ///< and the first one at which that was so.
  };

  bool TakesPart(Pid pid) const;
  bool Awaits(Pid pid) const;
  void BeginIfAllAsked();
  void CheckAsked(std::uint64_t now_ns);
  void CheckWriters(std::uint64_t now_ns);
  void Begin();
  void GiveUp(std::uint64_t checkpoint, const std::string& reason);
  bool HasStuckWriter();
  absl::Status WriteArchive(const files::NotedFiles& files) const;
  void Archive(const files::NotedFiles& files);
  void Fail(Pid pid, const std::string& reason);
  void FailFiles(const std::string& reason);
  void FinishIfDone();
  void ReportFailed(std::uint64_t checkpoint, const std::string& reason);
  std::string ArchivePath() const;
  Pid files_pid() const { return Pid{plan_.processes(0).pid()}; }

  const proto::HostPlan& plan_;
  const int segment_;
  CheckpointOwner& owner_;
  ImagePlace image_place_;
  std::string refusal_;
  MappedRegion header_;             ///< The beginning of the segment, once it is needed.
  std::uint64_t checkpoint_ = 0;    ///< The last that was begun.
  std::uint64_t given_up_ = 0;      ///< The last that was not.
  proto::CheckpointStored images_;  ///< Of that, as they are reported.
  std::string failure_;             ///< The first reason why it will not be; empty: it may.
  std::set<Pid> asked_;
  std::uint64_t asked_since_ns_ = 0;    ///< The first look at them.
  std::set<Pid> late_;                  ///< The others did not wait for them. Gone, too.
  std::map<Pid, std::string> gone_;     ///< And why.
  std::map<Pid, std::string> refused_;  ///< Reported before they asked.
  std::map<Pid, Pending> pending_;      ///< Images that are being written.
  std::set<Pid> stuck_;                 ///< Those that were given up, and still are.
  std::uint64_t since_ns_ = 0;          ///< The first look at them.
  pid_t archiver_ = 0;                  ///< 0: it has ended, or is not waited for any more.
  std::uint64_t archive_ticks_ = 0;     ///< Of processor time that it had used at the last look,
  std::uint64_t archive_since_ns_ = 0;  ///< and the first one at which that was so.
  UniqueFd archive_failure_;            ///< The archiver says here what went wrong.
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_CHECKPOINT_HOST_H_
