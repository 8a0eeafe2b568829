// What the processes of one job print on this node, on its way from bsp-host to the worker: whole
// lines, each with its place in all that the process has sent to that stream, and never more ahead
// of the coordinator than there is credit for. Pure but for what it is given to report with.
#ifndef WORKER_HOST_JOB_OUTPUT_H_
#define WORKER_HOST_JOB_OUTPUT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "files/job_files.h"
#include "proto/host.pb.h"
#include "proto/workers.pb.h"
#include "worker/core/output_credit.h"
#include "worker/host/host_channel.h"
#include "worker/host/line_assembler.h"
#include "worker/host/process_host.h"

namespace bspnow::worker {

/// What a process has sent so far.
struct OutputCounts {
  std::uint64_t output_bytes;
  std::uint64_t error_bytes;
};

class JobOutput {
 public:
  /// What becomes of what a process prints.
  enum class Hearing {
    kLog,        ///< It is reported.
    kComplaint,  ///< Kept for complaint(): it is bsp-restore that speaks.
    kDropped,    ///< It was reported before the checkpoint.
  };

  explicit JobOutput(std::function<void(proto::WorkerEvent)> report) : report_(std::move(report)) {}

  /// Before its process runs.
  void AddProcess(Pid pid);
  void AddResumed(Pid pid, const proto::ResumedProcess& process);

  void OnBytes(Pid pid, Stream stream, std::string_view bytes);
  void OnEnd(Pid pid, Stream stream);

  /// From now on what it prints is reported.
  void Hear(Pid pid) { processes_.at(pid).hearing = Hearing::kLog; }
  Hearing hearing(Pid pid) const { return processes_.at(pid).hearing; }
  const std::string& complaint(Pid pid) const { return processes_.at(pid).complaint; }

  /// Reports what has come of lines that are not complete.
  void ShowPrompts();
  bool has_prompts() const;

  OutputCounts Sent(Pid pid) const;

  /// Lines that are not complete, and so are not in what was sent.
  std::vector<files::UnfinishedLine> Unfinished() const;

  void Grant(std::uint64_t bytes) { credit_bytes_ += static_cast<std::int64_t>(bytes); }
  bool has_credit() const { return credit_bytes_ > 0; }

 private:
  struct Printed {
    LineAssembler lines{std::string()};
    std::uint64_t sent_bytes = 0;
  };
  struct Process {
    Hearing hearing = Hearing::kLog;
    std::string complaint{};
    std::map<Stream, Printed> printed{};
  };

  Printed& printed(Pid pid, Stream stream) { return processes_.at(pid).printed[stream]; }
  void Send(Pid pid, Stream stream, std::string_view text);
  void SendWhole(Pid pid, Stream stream, std::string_view text);

  const std::function<void(proto::WorkerEvent)> report_;
  std::map<Pid, Process> processes_;
  std::int64_t credit_bytes_ = kOutputCreditBytes;
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_JOB_OUTPUT_H_
