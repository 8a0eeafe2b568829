// One job of several nodes, on this one: looks at the processes' bell, asks NodeExchange what to
// do, and does it with BatchSource (out), BatchInbox (in) and the streams of its rim.
#ifndef WORKER_EXCHANGE_JOB_EXCHANGE_H_
#define WORKER_EXCHANGE_JOB_EXCHANGE_H_

#include <absl/status/status.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/frame_check.h"
#include "net/sending_stream.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/arrive_release.h"
#include "worker/exchange/batch_inbox.h"
#include "worker/exchange/batch_source.h"
#include "worker/exchange/job_shape.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow {

/// Why a job cannot go on: it would not elsewhere either, or only not here and now.
enum class ExchangeFault { kOfProgram, kOfSurroundings };

/// The streams. Hosts are numbered as in the job.
class ExchangeRim {
 public:
  virtual void SendToCoordinator(const FrameHeader& header, std::span<const std::byte> payload) = 0;
  virtual void SendToHost(std::uint32_t host, std::vector<OutgoingBatch>& frames) = 0;
  virtual void Prune(Superstep superstep) = 0;
  virtual WorkerId WorkerOf(std::uint32_t host) const = 0;
  virtual std::uint32_t HostOf(WorkerId worker) const = 0;  ///< The number of hosts: none.
  /// The job cannot go on. Must not destroy the JobExchange.
  virtual void OnBroken(ExchangeFault fault, const std::string& reason) = 0;

 protected:
  ~ExchangeRim() = default;
};

class JobExchange {
 public:
  /// The segment and the rim are the caller's and stay.
  JobExchange(const Segment& segment, JobShape shape, ExchangeRim& rim);

  // ---- The processes here

  /// Handles what the bell says; true if there was anything.
  bool Poll();
  /// From now on the processes ring the doorbell, or no longer. True: there is something to do.
  bool Sleep();
  void Awake();

  // ---- The coordinator

  void OnBegin(std::uint32_t nprocs);
  /// The epoch resumes with that p, before its first process runs: bsp_begin was long ago.
  void OnResumed(std::uint32_t participants);
  FrameFault OnRelease(std::span<const std::byte> payload);
  void OnCoordinatorReconnected();

  // ---- The other nodes

  std::span<std::byte> Place(std::uint32_t host, const FrameHeader& header,
                             const BatchPiece& piece);
  FrameFault OnBatch(std::uint32_t host, const FrameHeader& header, const BatchPiece& piece,
                     std::span<const std::byte> data);
  void OnDelivered(std::uint64_t token);

  /// Does nothing more.
  void Break(ExchangeFault fault, const std::string& reason);

  const JobShape& shape() const { return shape_; }
  std::uint64_t superstep() const { return exchange_.superstep(); }

 private:
  struct BellWords {
    std::uint32_t barriers = 0;
    std::uint32_t answers = 0;
    std::uint32_t handed = 0;
    std::uint32_t begun = 0;

    friend bool operator==(const BellWords&, const BellWords&) = default;
  };

  BellWords ReadBell() const;
  void OnBegun();
  void OnArrival(std::uint32_t barriers);
  bool Collect(const BarrierCounts& counts);
  void OnAnswers(std::uint32_t answers);
  void SendHanded();
  void SendAnswers();
  void SendFrames();
  void EncodeArrival();
  void SendArrive(std::uint64_t barrier);
  void SendBegin();
  void Perform(const NodeExchange::Actions& actions);
  void Prune();
  void Release();
  void OrderImage(BarrierPhase& phase);
  void TakeAnswers();
  FrameHeader Header(FrameKind kind) const;
  BarrierPhase& phase(std::uint64_t barrier) const {
    return segment_.header().barrier.phases[barrier & 1];
  }

  const Segment& segment_;
  JobShape shape_;
  ExchangeRim& rim_;
  NodeExchange exchange_;
  BatchSource source_;
  BatchInbox inbox_;
  BellWords seen_;
  bool broken_ = false;
  /// The newest superstep of which frames were sent, + 1; and up to where they are pruned.
  std::uint64_t sent_ = 0;
  std::uint64_t pruned_ = 0;
  BatchSource::Frames frames_;
  std::vector<std::uint64_t> owed_;  ///< By host.
  /// The newest two, by parity of the barrier: a coordinator that was restarted needs them again.
  struct SentArrive {
    FrameHeader header;
    std::vector<std::byte> payload;
  };
  std::array<SentArrive, 2> arrives_;
  ReleaseBody release_{};  ///< Of this barrier, if it is known.
  std::vector<PeerOwed> peers_;
  std::vector<std::byte> ending_;
  std::vector<AnswerRequest> requests_;
};

}  // namespace bspnow

#endif  // WORKER_EXCHANGE_JOB_EXCHANGE_H_
