// One connection that a worker accepts, from its first byte to its end. Of receiving_streams.cc.
#ifndef NET_RECEIVING_STREAM_H_
#define NET_RECEIVING_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/frame.h"
#include "net/frame_check.h"
#include "net/frame_reader.h"
#include "net/frame_writer.h"
#include "net/listener.h"
#include "net/receiving_streams.h"
#include "net/retention.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"
#include "net/stream_tls.h"

namespace bspnow {

class ReceivingStreams::Stream final : private FrameSink {
 public:
  Stream(ReceivingStreams& owner, Accepted accepted);
  ~Stream() { Shut(); }

  void Shut();
  void Ack();
  void Unplace(JobId job, std::optional<std::uint64_t> group) {
    if (!group) proven_jobs_.erase(job);
    reader_.Unplace(Value(job), group);
  }
  bool stranger() const { return state_ == State::kStranger || state_ == State::kChallenged; }
  WorkerId worker() const { return worker_; }

 private:
  enum class State { kStranger, kChallenged, kWelcomed, kLeaving };

  std::span<std::byte> Place(const FrameHeader& header, std::span<const std::byte> prefix) override;
  FrameFault OnFrame(const Frame& frame) override;
  FrameFault OnOpening(const Frame& frame);
  FrameFault OnProof(const Frame& frame);
  void OnHello(const FrameHeader& header);
  void OnLane(const FrameHeader& header);
  void HandLane(const LaneName& lane);
  FrameFault OnJobProof(const Frame& frame);
  bool HasProven(const FrameHeader& batch) const;
  bool Proven(const FrameHeader& batch) const;
  FrameFault OnBatch(const Frame& frame);
  void OnReadable();
  void Refuse(const std::string& reason);
  void RefuseOpening(const std::string& reason);
  void TurnAway(const std::string& reason);
  void Leave(const FrameHeader& last, std::span<const std::byte> payload);
  void Discard();
  void AwaitProof(std::uint64_t waited_ms);
  void End(const std::string& reason);
  void Note(const char* event, const std::string& reason);
  void Send(FrameHeader header, std::span<const std::byte> payload);
  void Write();
  void AckSoon();
  bool OwesAck();
  Reception& reception() { return owner_.receptions_[worker_]; }

  ReceivingStreams& owner_;
  EventLoop& loop_;
  UniqueFd fd_;
  const std::unique_ptr<StreamTls> tls_;  ///< If the key encrypts.
  std::string peer_;
  State state_ = State::kStranger;
  WorkerId worker_{};
  FrameReader reader_;
  FrameWriter writer_;
  std::optional<AcceptingProof> proof_;           ///< Once it has said what it wants,
  StreamKey proof_key_;                           ///< and what is to be proven for that.
  std::unordered_map<JobId, Epoch> proven_jobs_;  ///< Those that are here.
  TimerId state_timer_ = kNoTimer;  ///< For Hello and proof, and for the end of leaving.
  TimerId ack_timer_ = kNoTimer;
  std::uint64_t acked_ = 0;        ///< The sequence of the last Ack, and
  std::uint64_t acked_bytes_ = 0;  ///< reader_.bytes_read() then.
  bool ack_awaited_ = false;       ///< By the sender of a frame that came in this turn.
};

}  // namespace bspnow

#endif  // NET_RECEIVING_STREAM_H_
