// The superstep path as the coordinator sees it: the nodes' leases, and the barriers of all jobs.
// Frames of workers go in; frames to workers, and what the cluster must hear, come out. Knows no
// socket: rpc/barrier_server.h has the streams.
#ifndef COORDINATOR_CORE_BARRIERS_H_
#define COORDINATOR_CORE_BARRIERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/barrier.h"
#include "coordinator/core/job.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/ports.h"
#include "coordinator/core/running_epoch.h"
#include "net/frame.h"
#include "net/frame_check.h"
#include "net/stream_key.h"

namespace bspnow::coordinator {

struct BarrierEvents {
  /// A node has its frame stream: it may be usable now, and is to be told of the jobs that it has a
  /// part in (TellBegin).
  std::function<void(WorkerId worker)> connected;

  /// The lease has run out: the node is to be removed.
  std::function<void(WorkerId worker, const std::string& reason)> worker_lost;

  /// Nobody could be heard for this long: the coordinator itself was stopped, or its machine.
  std::function<void(std::uint64_t ns)> paused;

  /// A worker has sent what contradicts itself or others: this epoch cannot go on. Called once for
  /// an epoch.
  std::function<void(JobId job, Epoch epoch, const std::string& reason)> job_broken;

  /// All processes have finished the superstep before `next` (as it is shown) and are about to go
  /// on, none is in bsp_end: are they to save themselves? Called within a barrier, so it must be
  /// quick. Not called when an epoch that resumes repeats its registrations, nor at the first
  /// barrier that an adopted epoch passes, and never for jobs that release themselves.
  std::function<ReleaseDirective(JobId job, Epoch epoch, Superstep next)> superstep_over;

  /// More is known of what the supersteps of an epoch have cost that has totals_wanted.
  std::function<void(JobId job)> totals_grew;

  /// A job that releases itself is in superstep `next` by now, as its worker reports.
  std::function<void(JobId job, Epoch epoch, Superstep next)> progressed;
};

/// Why a frame was refused; the label of a metric.
enum class Refusal : std::uint32_t {
  kMalformed,      ///< Lengths that do not fit, an unexpected kind; closes the stream.
  kUnknownWorker,  ///< Hello of nobody that registered; closes the stream.
  kUnknownJob,     ///< It has ended, say.
  kOldEpoch,
  kContradiction,  ///< See Barrier::refusal; breaks the job.
  kCount,
};
const char* RefusalName(Refusal refusal);

class Barriers {
 public:
  /// Workers whose Hello has another term than this are refused.
  Barriers(Timers& timers, WorkerFrames& frames, std::uint64_t term, Jobs& jobs, Nodes& nodes,
           BarrierEvents events);
  ~Barriers();

  /// Jobs and logs have been read, which may take minutes: that was no pause.
  void OnRestored() { last_tick_ns_ = NowNs(); }

  // ---- The nodes' streams -----------------------------------------------------------------------

  /// What coordinator and worker prove to each other on its stream; none of one that is not here.
  StreamKey KeyOf(WorkerId worker) const;
  /// The first frame of a stream. Without a fault the stream is that of header.source_worker from
  /// now on, in place of an earlier one: call OnConnected when it is.
  FrameFault OnHello(const FrameHeader& header, std::span<const std::byte> payload);
  /// Welcomes the worker.
  void OnConnected(WorkerId worker);
  void OnDisconnected(WorkerId worker);
  /// It may have missed a Begin.
  void TellBegin(JobId job, WorkerId worker);
  /// See Node::GiveUp.
  void GiveUp(WorkerId worker, const std::string& reason);
  /// Of a node that is about to be removed, or to lose its lease.
  void CloseStream(const Node& node);
  /// Any other frame; header.source_worker is the one whose stream it came by.
  FrameFault OnFrame(const FrameHeader& header, std::span<const std::byte> payload);
  /// Counts a frame that must close its stream.
  FrameFault Refuse(Refusal refusal);
  /// Before anything is decided since time has passed: a pause that has just ended is heard of.
  void NotePause();

  // ---- To look at -------------------------------------------------------------------------------

  std::uint64_t refused(Refusal refusal) const;
  std::uint64_t released() const { return released_; }

 private:
  FrameFault OnHeartbeat(const FrameHeader& header, std::span<const std::byte> payload);
  FrameFault OnBegin(const FrameHeader& header, std::span<const std::byte> payload);
  FrameFault OnArrive(const FrameHeader& header, std::span<const std::byte> payload);
  FrameFault OnProgress(const FrameHeader& header, std::span<const std::byte> payload);

  /// The job that a frame is for; nullptr, and counted, if it is for none that runs.
  RunningEpoch* Lookup(const FrameHeader& header);
  void Break(const FrameHeader& header, RunningEpoch& job);
  void OnSuperstepOver(const FrameHeader& arrive, RunningEpoch& job);
  void Record(JobId id, const SuperstepSums& sums, RunningEpoch& job);
  void SendBegin(JobId id, const RunningEpoch& job, WorkerId worker);
  void SendRelease(const FrameHeader& arrive, const RunningEpoch& job, std::size_t host);
  std::uint64_t NowNs() const { return timers_.Now().now_ns; }
  void Tick();

  Timers& timers_;
  WorkerFrames& frames_;
  const std::uint32_t term_;
  Jobs& jobs_;
  Nodes& nodes_;
  BarrierEvents events_;
  CoreTimer tick_ = kNoCoreTimer;
  std::uint64_t last_tick_ns_;
  std::uint64_t released_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Refusal::kCount)> refused_{};
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_BARRIERS_H_
