// The sending end of a directed stream to one other worker. Connects at the first frame, keeps each
// frame until it is acknowledged, pruned or dropped, and sends again after a break or a stall. All
// on the loop's thread.
#ifndef NET_SENDING_STREAM_H_
#define NET_SENDING_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "net/event_loop.h"
#include "net/frame.h"
#include "net/frame_reader.h"
#include "net/frame_writer.h"
#include "net/resolver.h"
#include "net/retention.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"
#include "net/stream_tls.h"

namespace bspnow {

/// One Batch frame. Its payload is `piece`, then `owned`, then `pieces`: together at most
/// kFramePayloadBytesMax.
struct OutgoingBatch {
  JobId job{};
  Epoch epoch{};
  GroupId group = kRootGroup;
  Superstep superstep{};
  BatchPiece piece{};
  StreamKey job_key{};  ///< Of its epoch; none: it is not to be proven.
  std::vector<std::byte> owned;
  Pieces pieces;  ///< Memory that stays until the frame is gone (see SendingStreamEvents). It
                  ///< should not change, and if it does the frame is damaged once.
  std::shared_ptr<const void> owner;  ///< Of `pieces`, if frames to several peers share memory.
  std::uint64_t token = 0;            ///< Not 0: `delivered` is called.
};

/// What vouches for the payloads of Batch frames that are sent from where they lie: chunks and
/// answers. All else has checksums in any case.
enum class Integrity {
  kChecksums,  ///< CRC32C of each payload.
  kTcp,        ///< TCP's own: 16 bits a packet. With TLS its MAC does it in any case.
};

struct SendingStreamOptions {
  const StreamKey& key;  ///< The caller's, and stays; it may change.
  WorkerId self{};
  std::uint64_t incarnation = 0;  ///< Of this stream; no two to the same target may have the same,
                                  ///< since each counts its frames from 1.
  WorkerId target{};
  std::string target_name;  ///< For messages.
  HostPort address;
  SocketOptions socket;
  std::uint64_t stall_ms = 2000;  ///< Without a sign of the receiver: connect again.
  /// If for this long, over all connections, no frame was acknowledged though some wait for it:
  /// their jobs are broken. A Welcome is no such sign: what follows it may be swallowed. The
  /// coordinator, which may well see both workers, cannot know.
  std::uint64_t unreachable_ms = 60'000;
  Integrity integrity = Integrity::kChecksums;
};

struct SendingStreamEvents {
  /// The frame with this token was acknowledged. Not called for what is pruned or dropped. Never
  /// from inside Send.
  std::function<void(JobId job, GroupId group, std::uint64_t token)> delivered = nullptr;

  /// The job cannot go on: a frame that arrived was refused again and again, or does not arrive
  /// whole for a long time (the stream goes on trying). Never from inside Send.
  std::function<void(JobId job, const std::string& reason)> job_broken = nullptr;

  /// Jobs are about to be called broken, for this reason.
  std::function<void(const std::string& reason)> failed = nullptr;

  /// For the log, one line a fact: connected, broke, stalled.
  std::function<void(const std::string& fact)> note = nullptr;
};

struct SendingStreamCounts {
  std::uint64_t bytes = 0;  ///< On the wire.
  std::uint64_t frames = 0;
  std::uint64_t resent_frames = 0;
  std::uint64_t resent_bytes = 0;
  std::uint64_t connects = 0;  ///< Established ones; the first is no reconnect.
  std::uint64_t breaks = 0;
  std::uint64_t stalls = 0;
  std::array<std::uint64_t, kFrameFaults> faults{};  ///< In frames of the receiver, by FrameFault.
};

class SendingStream final : private FrameSink {
 public:
  /// `resolver` is the caller's and stays.
  SendingStream(EventLoop& loop, Resolver& resolver, SendingStreamOptions options,
                SendingStreamEvents events);
  ~SendingStream();

  /// Queues the frame, and sends it as soon as the socket takes it. Small frames that are sent
  /// together go together if they are bracketed by Cork and Uncork.
  void Send(OutgoingBatch batch);
  void Cork() { corked_ = true; }
  void Uncork();

  /// Nobody needs frames of this superstep of the group and earlier ones any more: all have
  /// arrived. Afterwards the memory of those frames is not looked at.
  void Prune(JobId job, Epoch epoch, GroupId group, Superstep superstep);
  void DropGroup(JobId job, GroupId group);

  /// Whether a frame of the group is kept. If not, the memory of none is looked at.
  bool Holds(JobId job, GroupId group) const { return retention_.Holds(job, group); }

  /// The worker has another address: the next connection goes there; a present one is closed.
  void SetAddress(const HostPort& address);

  /// A present connection is closed.
  void ConnectAnew(const std::string& why) {
    if (fd_.valid()) Break(why);
  }

  bool connected() const { return state_ == State::kOpen; }
  /// Since when no frame was acknowledged though some wait for it; `now_ns` if none waits.
  std::uint64_t silent_since_ns(std::uint64_t now_ns) const {
    return retention_.empty() ? now_ns : acked_ns_;
  }
  std::size_t retained_frames() const { return retention_.frames(); }
  const SendingStreamCounts& counts() const { return counts_; }

 private:
  enum class State { kIdle, kResolving, kConnecting, kGreeting, kProven, kOpen, kBackoff };
  struct Kept {
    OutgoingBatch batch;
    std::uint32_t refusals = 0;
  };

  std::span<std::byte> Place(const FrameHeader& header, std::span<const std::byte> prefix) override;
  FrameFault OnFrame(const Frame& frame) override;
  FrameFault OnChallenge(const Frame& frame);
  FrameFault OnWelcome(std::uint64_t sequence);
  FrameFault OnAck(std::uint64_t sequence);
  FrameFault OnAbort(const Frame& frame);
  static void Own(OutgoingBatch& batch);
  void Connect();
  void AskForAddresses();
  void OnWritable();
  void OnConnected();
  void OnReadable();
  void Pump();
  bool PushNext();
  bool PushJobProof(const OutgoingBatch& batch);
  void Push(const FrameHeader& header, std::span<const std::byte> owned,
            std::span<const iovec> pieces);
  bool Write();
  bool greets() const;
  void Break(const std::string& reason);
  void RetryLater();
  void WatchForStall();
  void OnStallTimer();
  void Discard(const std::vector<RetainedFrame>& frames);
  void Deliver(const std::vector<RetainedFrame>& frames);
  void GiveUp(std::uint64_t sequence, const std::string& reason);
  void LeaveOutPause();
  void GiveUpIfUnreachable(const std::string& reason);
  void TellBroken(const std::set<JobId>& jobs, const std::string& reason);

  EventLoop& loop_;
  Resolver& resolver_;
  SendingStreamOptions options_;
  SendingStreamEvents events_;
  State state_ = State::kIdle;
  std::vector<SocketAddress> addresses_;  ///< Still to be tried, the next one last.
  std::uint64_t question_ = 0;            ///< For them, the last that was asked.
  UniqueFd fd_;
  std::unique_ptr<StreamTls> tls_;        ///< Of this connection, if the key encrypts.
  std::shared_ptr<FrameReader> reader_;   ///< One for each connection; alive while it reads.
  std::optional<ConnectingProof> proof_;  ///< Of this connection, once Hello is out.
  StreamNonce challenge_{};               ///< The receiver's, of this connection.
  std::unordered_map<JobId, Epoch> proven_jobs_;  ///< On this connection.
  FrameWriter writer_;
  std::deque<std::uint64_t> in_writer_;  ///< Sequences of its frames; 0: not a Batch.
  std::uint64_t written_ = 0;            ///< The last sequence that the socket has taken whole.
  Retention retention_;
  std::unordered_map<std::uint64_t, Kept> kept_;  ///< By sequence, what retention_ numbers.
  std::uint64_t backoff_ms_ = 0;
  std::uint64_t heard_ns_ = 0;  ///< When the receiver gave a sign, or began to owe one.
  std::uint64_t acked_ns_ = 0;  ///< When it last acknowledged a frame, or the first one came.
  static constexpr std::uint64_t kNotDue = UINT64_MAX;
  std::uint64_t retry_due_ns_ = kNotDue;  ///< When these timers are due; the next, too.
  std::uint64_t stall_due_ns_ = kNotDue;
  std::string abort_reason_;  ///< The reason that the peer gave when it closed.
  TimerId retry_timer_ = kNoTimer;
  TimerId stall_timer_ = kNoTimer;
  bool corked_ = false;
  bool writing_ = false;  ///< Waits for writability.
  SendingStreamCounts counts_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace bspnow

#endif  // NET_SENDING_STREAM_H_
