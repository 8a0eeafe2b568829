// The receiving ends of the directed streams from all other workers: accepts them, lets each prove
// the cluster's key, welcomes it with the last frame it has, hands Batch frames to its sink exactly
// once and acknowledges them. Lanes come in here, too: their sockets leave this place once they are
// welcomed.
#ifndef NET_RECEIVING_STREAMS_H_
#define NET_RECEIVING_STREAMS_H_

#include <absl/status/status.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/frame.h"
#include "net/frame_check.h"
#include "net/frame_reader.h"
#include "net/listener.h"
#include "net/log/refusal_pace.h"
#include "net/retention.h"
#include "net/socket.h"
#include "net/stream_key.h"

namespace bspnow {

/// Of those that come to a worker.
struct LaneName {
  WorkerId from;
  JobId job;
  Epoch epoch;
  std::uint32_t number;  ///< As in LaneBody.
};

class BatchSink {
 public:
  /// Where the data after `piece` is to be read to, or nothing (see FrameSink::Place). Only asked
  /// for frames that are news; what was placed may be cut off and asked for again. If the owner of
  /// the memory goes (the job or the group ends), call ReceivingStreams::Unplace first.
  virtual std::span<std::byte> Place(WorkerId from, const FrameHeader& header,
                                     const BatchPiece& piece) = 0;

  /// A Batch frame, checksums right, once; its sender has proven the key of the job, if that is
  /// here. `data` is what follows `piece`: where Place said, or in a buffer until the call returns.
  /// kMalformed closes the stream and is counted.
  virtual FrameFault OnBatch(WorkerId from, const FrameHeader& header, const BatchPiece& piece,
                             std::span<const std::byte> data) = 0;

  /// The key of a job's epoch that exchanges here; null if none does.
  virtual const StreamKey* KeyOf(JobId job, Epoch epoch) = 0;

  /// Whether that lane is to be welcomed. If it is, and the Welcome is out, TakeLane
  /// follows from the same call.
  virtual bool WantsLane(const LaneName& lane) = 0;

  /// The socket of a lane, non-blocking; nothing beyond kProof has been read.
  virtual void TakeLane(const LaneName& lane, UniqueFd socket) = 0;

 protected:
  ~BatchSink() = default;
};

struct ReceivingCounts {
  std::uint64_t bytes = 0;
  std::uint64_t frames = 0;      ///< News only.
  std::uint64_t duplicates = 0;  ///< Sent again although they had arrived.
  std::uint64_t connections = 0;
  std::uint64_t refused = 0;                         ///< Connections: too many, not for us.
  std::array<std::uint64_t, kFrameFaults> faults{};  ///< kBadProof, kNoProof: of connections.
};

class ReceivingStreams {
 public:
  /// For the log: "event=stream_closed worker=3 ...".
  using NoteFact = std::function<void(const std::string& fact)>;

  ReceivingStreams(EventLoop& loop, const SocketOptions& options, BatchSink& sink, NoteFact note);
  ~ReceivingStreams();

  /// Binds; see address() for the port.
  absl::Status Listen(const SocketAddress& address);
  const SocketAddress& address() const { return address_; }

  /// Who we are, once that is known: a Hello for another worker is refused, and one whose sender
  /// does not prove this key, for a lane its job's, too. Before, connections wait in the kernel:
  /// the coordinator may tell the other workers of us before its answer is here, and how they speak
  /// (TLS or not) is not known.
  /// If it is another, or streams are encrypted from now on, or no more, those that are there end.
  void SetSelf(WorkerId self, const StreamKey& key);

  /// A frame that is being read into memory of this job, or of one group of it, goes to a buffer
  /// instead, and its owner then drops it: the memory is about to go. With a job goes what has been
  /// proven of it.
  void Unplace(JobId job);
  void Unplace(JobId job, GroupId group);

  /// What this worker's streams have brought is known no more: a stream of it would be taken for
  /// its first. False, and nothing happens, while one stands.
  bool Forget(WorkerId worker);

  const ReceivingCounts& counts() const { return counts_; }

 private:
  class Stream;

  void OnAccepted(Accepted accepted);

  /// Empty: it is welcome.
  std::string WhyUnwelcome(const FrameHeader& header, std::uint32_t target) const;
  /// What an opening must prove. For lanes of a job that is not here a key that nobody has: whether
  /// it is here is not for everybody to know.
  StreamKey KeyFor(const FrameHeader& opening) const;
  /// In place of an earlier stream of this worker.
  void Take(Stream& stream, WorkerId worker);
  void Remove(Stream& stream);
  void Note(const std::string& fact) {
    if (note_) note_(fact);
  }
  /// Of whom nothing is proven: not each gets a line.
  void NoteStranger(const char* event, const std::string& peer, const std::string& reason);

  EventLoop& loop_;
  SocketOptions options_;
  BatchSink& sink_;
  NoteFact note_;
  WorkerId self_{};
  StreamKey key_;
  UniqueFd socket_;  ///< Until we know who we are; then the listener's.
  SocketAddress address_;
  std::unique_ptr<Listener> listener_;
  std::unordered_map<Stream*, std::shared_ptr<Stream>> streams_;
  std::size_t strangers_ = 0;  ///< Of them, those that have not proven the key.
  std::unordered_map<WorkerId, Stream*> by_worker_;
  std::unordered_map<WorkerId, Reception> receptions_;
  ReceivingCounts counts_;
  RefusalPace strangers_noted_;
};

}  // namespace bspnow

#endif  // NET_RECEIVING_STREAMS_H_
