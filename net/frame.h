// The superstep path on the wire: frames on TCP streams between workers (Batch), and between worker
// and coordinator (Arrive, Release, leases). One header for all; integers little-endian, without
// padding. A length is checked before it is believed; what is malformed closes the stream with a
// reason.
//
// Every connection begins with proofs (net/stream_proof.h): who connects sends Hello or kLane, gets
// kChallenge, and sends kProof. Before its proof was right none of its frames has an effect; before
// the other end's was right it sends nothing more.
//
// Streams between workers are directed: the sender connects and gets Welcome, and then sends Batch
// frames with ascending sequence, those of a job after its kJobProof; only Ack comes back. It keeps
// what nobody has acknowledged and sends it again, on the next connection, from what Welcome asks
// for. A worker's stream to the coordinator goes both ways and resends nothing: its frames are
// idempotent (see Arrive).
#ifndef NET_FRAME_H_
#define NET_FRAME_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/superstep_sums.h"
#include "base/superstep_totals.h"

namespace bspnow {

inline constexpr std::uint32_t kFrameMagic = 0x464e5342;  // "BSNF"
inline constexpr std::uint16_t kFrameVersion = 10;

enum class FrameKind : std::uint16_t {
  kHello = 1,      ///< First frame of a stream: who I am. Payload HelloBody, StreamNonce.
  kWelcome = 2,    ///< Answer to kProof. `sequence`: the last Batch frame that I have.
  kHeartbeat = 3,  ///< Worker to coordinator: renew my lease. Payload HeartbeatBody.
  kLease = 4,      ///< Answer to kHeartbeat. Payload HeartbeatBody, as it came.
  kBegin = 5,      ///< bsp_begin's number of processes: from pid 0's worker, then to all others.
  kArrive = 6,     ///< Worker to coordinator: all processes of a node are at a barrier.
  kRelease = 7,    ///< Coordinator to worker: all processes of the group are.
  kBatch = 8,      ///< Worker to worker. Payload BatchPiece and data.
  kAck = 9,        ///< `sequence`: all Batch frames up to it have been taken in.
  kAbort = 10,     ///< The sender closes the stream; the payload is the reason, as text.
  kProgress = 11,  ///< Worker of pid 0 to coordinator, of a job that releases itself: ProgressBody.
  /// The same as kBatch, but payload_crc32c is that of the prefix: the rest is left to TCP and TLS
  /// (Integrity in net/sending_stream.h).
  kTrustedBatch = 12,
  /// In place of kHello: this connection is to become a lane. Payload LaneBody, StreamNonce.
  kLane = 13,
  /// Answer to kHello and kLane. Payload ChallengeBody. `sequence`: the bytes of filler that a
  /// probe's kProof is to have, at most kMoreThanAPacketBytes.
  kChallenge = 14,
  kProof = 15,  ///< Answer to kChallenge. Payload ProofBody; of a probe, filler after it.
  /// Worker to worker, before the first Batch of a job's epoch on this connection: the sender has
  /// its key. Payload ProofBody.
  kJobProof = 16,
};

struct FrameHeader {
  std::uint32_t magic = 0;  ///< kFrameMagic; anything else closes the stream.
  std::uint16_t version = 0;
  std::uint16_t kind = 0;            ///< FrameKind.
  std::uint32_t header_crc32c = 0;   ///< Of the header's other bytes.
  std::uint32_t payload_crc32c = 0;  ///< Of the payload.
  std::uint64_t job = 0;
  std::uint64_t epoch = 0;  ///< Below the receiver's: drop, a zombie sent it.
  std::uint64_t superstep = 0;
  std::uint64_t sequence = 0;       ///< Of this stream's Batch frames, from 1; 0 elsewhere.
  std::uint64_t group = 0;          ///< GroupId; supersteps are those of that group.
  std::uint32_t source_worker = 0;  ///< WorkerId; 0 is the coordinator.
  std::uint32_t payload_bytes = 0;  ///< At most kFramePayloadBytesMax.
  std::uint32_t prefix_crc32c = 0;  ///< Of the payload's first kFramePrefixBytes, or all of fewer.
  std::uint32_t reserved = 0;
};
static_assert(sizeof(FrameHeader) == 72, "the wire has no padding");

/// A payload's place may be chosen by its first bytes (BatchPiece) before the rest is here, and
/// what is written there cannot be taken back: so these have a checksum of their own.
inline constexpr std::size_t kFramePrefixBytes = 32;

inline constexpr std::uint32_t kFramePayloadBytesMax = (1 << 20) + 4096;

/// Drawn anew for each connection, by each of its ends.
using StreamNonce = std::array<std::byte, 32>;

/// An HMAC-SHA256 (net/stream_key.h).
using StreamMac = std::array<std::byte, 32>;

struct ChallengeBody {
  StreamNonce nonce;
  StreamMac proof;  ///< Of the end that accepts.
};

struct ProofBody {
  StreamMac proof;  ///< Of the end that connects.
};

struct HelloBody {
  /// Of the sending stream; a new one starts at sequence 1. 0, a probe: only to see whether the
  /// receiver can be reached; after its Welcome both close.
  std::uint64_t incarnation;
  std::uint32_t target;  ///< WorkerId that the sender wants to reach; 0: the coordinator.
  std::uint32_t term;    ///< The coordinator's, lower bits; another one refuses. Else 0.
};

/// `job`, `epoch` and `source_worker` of the header say of which lanes of the target's it is one: a
/// job has some between each two of its nodes, which its processes drive themselves. Welcome is the
/// last frame here, and kProof the last one before; what then follows, in either direction, is
/// theirs. A worker that does not want the lane (yet) refuses it with kAbort.
struct LaneBody {
  std::uint32_t target;  ///< As in HelloBody.
  /// Of the lane, among those between these two nodes; the layout of its frames in the upper half.
  std::uint32_t number;
};

struct HeartbeatBody {
  std::uint64_t sent_ns;  ///< The worker's monotonic clock; only it reads it.
};

struct BeginBody {
  std::uint32_t nprocs;
  std::uint32_t reserved;
};

/// `barrier` counts the barriers of a group from bsp_begin's, which is 0; usually that of superstep
/// s is s + 1, and more with BSP_CHECK=full. Repeating an Arrive changes nothing, and brings the
/// Release again if it was given. One more comes when the processes of a node have left bsp_end:
/// nobody waits for its Release, but it brings the sums of the last superstep.
struct ArriveBody {
  std::uint64_t barrier;
  std::uint32_t processes;  ///< That arrived: all of this node below p.
  std::uint32_t with_data;  ///< Of them, as in BarrierPhase of runtime/link/link.h.
  std::uint32_t with_gets;
  std::uint32_t with_votes;
  std::uint32_t ending;
  std::uint32_t peers;  ///< PeerOwed entries that follow.
  std::uint32_t
      ending_bytes;        ///< Then a bitmap by pid of those in bsp_end, if some but not all are.
  std::uint32_t has_sums;  ///< `sums` is valid (from the second barrier on).
  std::uint32_t ends_superstep = 0;  ///< bsp_begin's does not, nor the first one of BSP_CHECK=full.
  std::uint32_t with_groups = 0;     ///< Processes that are in other groups, too.
  SuperstepSums sums;                ///< Of the superstep before this barrier.
};

struct ReleaseBody {
  std::uint64_t barrier;
  std::uint32_t with_data;  ///< Of all processes of the group.
  std::uint32_t with_gets;
  std::uint32_t with_votes;
  std::uint32_t ending;
  std::uint32_t peers;         ///< PeerOwed entries that follow: who sent you what.
  std::uint32_t ending_bytes;  ///< Then the bitmap of all, if some but not all are in bsp_end.
  std::uint64_t checkpoint;    ///< To be taken at the end of this bsp_sync, or 0: ImageOrder in
  std::uint64_t base;          ///< runtime/link/link.h.
  std::uint32_t hold;
  std::uint32_t with_groups;
};

/// In an Arrive: that this worker sends to `worker` in this superstep. In a Release: that `worker`
/// has sent to the receiver. Answers to gets are not counted.
struct PeerOwed {
  std::uint32_t worker;
  std::uint32_t reserved;
  std::uint64_t frames;
};

/// From each node of a job whose nodes release themselves (StartJob.direct) to each other one, in
/// place of Arrive and Release from the second barrier on.
struct PeerArrival {
  std::uint64_t barrier;
  std::uint64_t checkpoint;  ///< The newest that this node was told to take; 0: none.
  std::uint64_t frames;      ///< That it owes the receiver in this superstep, answers not counted.
  std::uint32_t processes;   ///< As in ArriveBody, from here to `ending`.
  std::uint32_t with_data;
  std::uint32_t with_gets;
  std::uint32_t with_votes;
  std::uint32_t ending;
  std::uint32_t with_groups;
  std::uint16_t has_sums;
  std::uint16_t by_count;     ///< The same as `with_data`.
  std::uint32_t lanes_ready;  ///< This node's lanes to all others are open.
  SuperstepSums sums;
};

struct ProgressBody {
  std::uint64_t superstep;  ///< In which the job is, counted as in its epoch.
  std::uint32_t processes;
  std::uint32_t reserved;
  SuperstepTotals totals;  ///< Of its epoch.
};

/// What one Batch frame holds.
enum class BatchContent : std::uint32_t {
  kPuts = 0,        ///< A part of a chunk of PutRecords (runtime/link/link.h).
  kGets = 1,        ///< ... of GetRecords.
  kMessages = 2,    ///< ... of MessageRecords.
  kEntries = 3,     ///< BatchEntry[]: the sums of each pair of processes that has any.
  kDirectPut = 4,   ///< A whole chunk of one PutRecord, to be written at once if that is possible.
  kVote = 5,        ///< Of source_pid: RegistrationVote, then pushes, then pops.
  kAnswers = 6,     ///< A part of source_pid's answers to destination_pid's gets.
  kAnswersEnd = 7,  ///< No more answers of the source worker in this superstep.
  kTable = 8,       ///< Several of these, whole: of each its BatchPiece and chunk_bytes bytes.
  kArrival = 9,     ///< The last of a barrier: PeerArrival, then a bitmap as in ArriveBody.
  // Without data, in frames of their own, of a group but for the root group:
  kGroupHere = 10,  ///< The sender's worker knows the group, from now on it may be sent to it.
  kGroupLeft = 11,  ///< The last of the group: its members there have left it.
  /// Of the root group, in a frame of its own: a LaneFrame (runtime/link/lane.h) that the receiver
  /// may lack. chunk_offset 1: the sender lacks some, too, perhaps; 0: it is an answer to that.
  kLaneFrame = 12,
};

struct BatchPiece {
  std::uint32_t content = 0;  ///< BatchContent.
  std::uint32_t source_pid = 0;
  std::uint32_t destination_pid = 0;
  std::uint32_t ack_awaited = 0;   ///< Not 0: acknowledge it at once, its memory is wanted.
  std::uint64_t chunk_bytes = 0;   ///< Of the whole chunk (its header not included), or answers.
  std::uint64_t chunk_offset = 0;  ///< Of this part in it.
};
static_assert(sizeof(BatchPiece) == kFramePrefixBytes);

/// DirectoryEntry of runtime/link/link.h without what only its own segment knows.
struct BatchEntry {
  std::uint32_t source_pid;
  std::uint32_t destination_pid;
  std::uint64_t bytes_to;
  std::uint64_t bytes_from;
  std::uint32_t message_count;
  std::uint32_t transfers;
  std::uint64_t message_bytes;
};
static_assert(sizeof(BatchEntry) == 40);

}  // namespace bspnow

#endif  // NET_FRAME_H_
