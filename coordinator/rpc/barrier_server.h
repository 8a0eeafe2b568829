// The coordinator's end of the superstep path: the workers' frame streams, their leases, and the
// barriers of all jobs. Everything on the loop's thread.
#ifndef COORDINATOR_RPC_BARRIER_SERVER_H_
#define COORDINATOR_RPC_BARRIER_SERVER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/barrier.h"
#include "coordinator/core/leases.h"
#include "coordinator/core/superstep_stats.h"
#include "net/event_loop.h"
#include "net/frame_check.h"
#include "net/frame_stream.h"
#include "net/listener.h"
#include "net/socket.h"

namespace bspnow {

struct BarrierServerEvents {
  /// The lease has run out. The worker is forgotten already.
  std::function<void(WorkerId worker, const std::string& reason)> worker_lost;

  /// A worker said what cannot be: this job cannot go on. Called once for a job.
  std::function<void(JobId job, Epoch epoch, const std::string& reason)> job_broken;

  /// All processes have finished the superstep before `next` (as it is shown) and are about to go
  /// on, none is in bsp_end: are they to save themselves? Called within a barrier, so it must be
  /// quick. Not called when an epoch that resumes repeats its registrations, nor at the first
  /// barrier that an adopted epoch passes, and never for jobs on one node.
  std::function<ReleaseDirective(JobId job, Epoch epoch, Superstep next)> superstep_over;

  /// A job on one node says that it is in superstep `next` by now.
  std::function<void(JobId job, Epoch epoch, Superstep next)> progressed;

  /// One line a fact, for the log.
  std::function<void(const std::string& line)> note;
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

/// An epoch of a job.
struct BarrierJob {
  std::uint32_t nprocs;
  std::vector<BarrierHost> hosts;  ///< As in BarrierPlan.
  std::uint32_t participants = 0;  ///< p of an epoch that resumes; 0: bsp_begin will tell.
  Superstep first_superstep{0};    ///< Of an epoch that resumes: as in NodeHeader.
  SuperstepTotals totals{};        ///< To go on from.
  EpochOrigin origin = EpochOrigin::kStarted;
};

class BarrierServer {
 public:
  /// Port 0: any.
  static absl::StatusOr<std::unique_ptr<BarrierServer>> Listen(EventLoop& loop,
                                                               const SocketAddress& address,
                                                               BarrierServerEvents events);
  BarrierServer(EventLoop& loop, BarrierServerEvents events);

  /// Before the first worker is admitted: those of another term are refused.
  void SetTerm(std::uint64_t term) { term_ = static_cast<std::uint32_t>(term); }
  ~BarrierServer();

  /// With the real port.
  const SocketAddress& address() const { return listener_->address(); }

  /// A worker that registered; its lease begins.
  void AdmitWorker(WorkerId worker, std::uint64_t incarnation);
  /// Closes its stream. Its lease is over, without worker_lost.
  void ForgetWorker(WorkerId worker);

  /// Before the StartJob orders are sent; of adopted epochs, before the first worker is admitted.
  void AddJob(JobId job, Epoch epoch, BarrierJob plan);
  void RemoveJob(JobId job) { jobs_.erase(job); }
  /// Of an adopted epoch: only its workers know it.
  void SetFirstSuperstep(JobId job, Epoch epoch, Superstep first);

  /// The superstep that the job is in, as it is shown and as far as is known; 0 for an unknown job.
  Superstep SuperstepOf(JobId job) const;
  /// p; 0 if it is not known.
  std::uint32_t ParticipantsOf(JobId job) const;
  /// Any thread may look at it; lives as long as somebody holds it. nullptr for an unknown job.
  std::shared_ptr<const SuperstepStats> StatsOf(JobId job) const;

  bool Connected(WorkerId worker) const;
  std::uint64_t LeaseAgeNs(WorkerId worker) const;
  std::size_t leases() const { return leases_.size(); }
  std::uint64_t refused(Refusal refusal) const;
  /// Frames whose checksums or lengths were wrong; each closed its stream.
  std::uint64_t faults(FrameFault fault) const;
  std::uint64_t bytes_read() const;
  std::uint64_t bytes_written() const;
  std::uint64_t barriers_released() const { return barriers_released_; }

 private:
  enum class ConnectionId : std::uint64_t {};
  static constexpr ConnectionId kNoConnection{0};

  struct Connection {
    std::unique_ptr<FrameStream> stream;
    std::string peer;
    WorkerId worker{0};  ///< 0 until Hello.
    std::uint64_t accepted_ns;
  };

  struct Worker {
    std::uint64_t incarnation;
    ConnectionId connection = kNoConnection;
  };

  struct RunningJob {
    Epoch epoch;
    Barrier barrier;  ///< Of the root group; others come with PUB's partition.
    std::shared_ptr<SuperstepStats> stats;
    Superstep first_superstep;
    Superstep superstep;   ///< As it is shown.
    bool adopted = false;  ///< And has passed no barrier since.
    bool broken = false;
  };

  void OnAccepted(Accepted accepted);
  void OnClosed(ConnectionId id, const absl::Status& reason);
  /// Destroys the stream, but not inside one of its own callbacks.
  void Discard(ConnectionId id);
  FrameFault OnFrame(ConnectionId id, const FrameHeader& header,
                     std::span<const std::byte> payload);
  FrameFault OnHello(ConnectionId id, const FrameHeader& header,
                     std::span<const std::byte> payload);
  FrameFault OnHeartbeat(Connection& connection, std::span<const std::byte> payload);
  FrameFault OnBegin(const FrameHeader& header, std::span<const std::byte> payload);
  FrameFault OnArrive(const FrameHeader& header, std::span<const std::byte> payload);
  FrameFault OnProgress(const FrameHeader& header, std::span<const std::byte> payload);

  /// The job that a frame is for; nullptr, and counted, if it is for none that runs.
  RunningJob* Lookup(const FrameHeader& header);
  FrameFault Refuse(Refusal refusal);
  void Break(const FrameHeader& header, RunningJob& job);
  void OnSuperstepOver(const FrameHeader& arrive, RunningJob& job);
  void SendBegin(JobId id, const RunningJob& job, WorkerId worker);
  void SendRelease(const FrameHeader& arrive, const RunningJob& job, std::size_t host);
  FrameStream* StreamOf(WorkerId worker);
  void Note(const std::string& line) const;
  void Tick();

  EventLoop& loop_;
  BarrierServerEvents events_;
  std::unique_ptr<Listener> listener_;
  std::unordered_map<ConnectionId, Connection> connections_;
  std::unordered_map<WorkerId, Worker> workers_;
  std::unordered_map<JobId, RunningJob> jobs_;
  Leases leases_{kLeaseLimits};
  TimerId tick_ = kNoTimer;
  std::uint64_t last_tick_ns_;
  std::uint32_t term_ = 0;
  std::uint64_t last_connection_ = 0;
  std::uint64_t barriers_released_ = 0;
  std::uint64_t closed_bytes_read_ = 0;  ///< Of connections that are no more.
  std::uint64_t closed_bytes_written_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Refusal::kCount)> refused_{};
  std::array<std::uint64_t, kFrameFaults> faults_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace bspnow

#endif  // COORDINATOR_RPC_BARRIER_SERVER_H_
