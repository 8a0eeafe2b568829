// Lanes: in a job of a few nodes each pair of them has a connection that the processes drive
// themselves while they wait in bsp_sync. Who waits does the work: a small superstep goes from
// process to process, and no worker has a turn in it. Of the root group only.
//
// In each superstep a node sends what it owes either by its lanes, as one LaneFrame to every other
// node, or by its worker. If all nodes sent theirs by lanes, the processes complete the barrier; if
// one did not, its worker's arrival reaches the other workers, and they carry that barrier as if
// there were no lanes. A node that has lost a lane leaves all of them to its worker, for good, and
// that sends the last frames once more, over the workers' streams: whoever lacked one can go on.
//
// A frame that owes its receiver nothing is a head, the same for all. Where a way takes long heads
// go straight to all nodes; where sends count (lane_route.h) they go by dissemination: in step k a
// node sends what it has of the 2^k nodes up to itself to the 2^k-th node after itself. So each
// gets that of each, with log n sends in place of n - 1. A frame with entries goes straight to its
// receiver, unless it is short and all are owed the same: then it goes as a head does, and takes
// its place. A head says to which nodes its host's frames go straight: there nobody takes the head
// in the frame's place.
//
// A superstep that ends by counting (Group::FinishCounted) is over for the processes of a node as
// soon as the frames that are here hold the messages that they wait for: they go on, one superstep
// ahead of the barrier, and do not arrive at the next one before this one is over. To all others,
// the workers among them, it is a barrier like any.
//
// What is here lies in the segment, so that whichever process waits can go on from there.
#ifndef RUNTIME_LINK_LANE_H_
#define RUNTIME_LINK_LANE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/superstep_sums.h"
#include "runtime/link/link.h"

namespace bspnow {

/// A bit each in a word of 32, which has one more to say.
inline constexpr std::uint32_t kLaneHostsMax = kLanesMax + 1;
static_assert(kLaneHostsMax < 32);
/// Half a MiB of data, and what goes with them.
inline constexpr std::uint32_t kLaneFrameBytesMax = 576 << 10;
/// Answers, and what is sent at a barrier that processes may leave before it is over.
inline constexpr std::uint32_t kLaneShortBytesMax = 64 << 10;
inline constexpr std::uint32_t kLanePairsMax = 1024;  ///< Of processes, in one frame.
/// Of a frame that goes as a head does. What is longer costs more to send on than sends do.
inline constexpr std::uint32_t kSameBytesMax = 4096;
/// Another one whenever a frame is laid out anew: a program takes libbsp from its node, so builds
/// may differ between nodes. Workers open no lanes between two layouts, and carry the job's
/// barriers themselves. Then kLinkVersion changes, too: a worker looks at the frames of its own
/// processes, whose libbsp may be linked statically.
inline constexpr std::uint32_t kLaneLayout = 3;
inline constexpr std::uint32_t kLaneMagic = 0x334c5342;         // "BSL3"
inline constexpr std::uint32_t kLaneAnswersMagic = 0x32415342;  // "BSA2"

/// What a node sends each other one at a barrier, in place of an arrival (PeerArrival in
/// net/frame.h) and of frames with data: there are no processes in bsp_end. LaneEntries follow,
/// each with its chunks, then LaneVotes. And what it sends after a barrier that lanes completed, to
/// who asked it for something: with kLaneAnswersMagic, of that barrier, with `entries` LaneAnswers
/// and no more in its head.
struct LaneFrame {
  std::uint32_t magic;
  std::uint32_t crc32c;  ///< Of all that follows this word.
  std::uint32_t bytes;   ///< Of the frame, this header included; a multiple of 16.
  std::uint32_t host;    ///< The sender's number in the job.
  std::uint64_t barrier;
  std::uint32_t processes;  ///< That arrived,
  std::uint32_t with_data;  ///< and of them, as in BarrierPhase.
  std::uint32_t with_groups;
  std::uint32_t with_gets;
  std::uint32_t entries;
  /// To these hosts, a bit each, the sender itself sends its frame. Or kSameToAll.
  std::uint32_t direct;
  SuperstepSums sums;        ///< Of the superstep before this barrier's, of the sender's processes.
  std::uint32_t with_votes;  ///< As `with_data`,
  std::uint32_t votes;       ///< and how many votes this frame has.
  std::uint32_t by_count;    ///< As `with_data`.
  /// Of what follows `crc32c` up to here, in a frame of more than kLaneShortBytesMax; else 0. It is
  /// received where the head says, before all of it can be checked.
  std::uint32_t head_crc32c;
};
static_assert(sizeof(LaneFrame) == 224);

/// The frame of each other node says the same as this one: what each process owes, all processes of
/// the receiver are owed.
inline constexpr std::uint32_t kSameToAll = 1u << kLaneHostsMax;

/// What a process owes another. A chunk of puts follows, then one of gets, then one of messages;
/// each is a whole chain, ready to be read where it lies. If there are puts alone, and so many of
/// the pids after the destination's are owed the same, byte for byte, it stands for these, too.
struct LaneEntry {
  std::uint32_t source_pid;
  std::uint32_t destination_pid;
  std::uint32_t bytes_to;  ///< As in DirectoryEntry. If it is more the worker has the barrier.
  std::uint32_t bytes_from;
  std::uint64_t message_bytes;
  std::uint32_t message_count;
  std::uint32_t transfers;
  std::uint32_t puts_bytes;      ///< Of the chunk, its header included; 0: there is none.
  std::uint32_t gets_bytes;      ///< The same.
  std::uint32_t messages_bytes;  ///< The same.
  std::uint32_t more;            ///< Destinations after the first.
};
static_assert(sizeof(LaneEntry) == 48);

/// What a process did to its registrations in the superstep. LanePushes follow, then the numbers of
/// its pops, 8 bytes each, then padding to 16.
struct LaneVote {
  std::uint32_t source_pid;
  std::uint32_t reserved[3];
  RegistrationVote vote;
};
static_assert(sizeof(LaneVote) == 64);

struct LanePush {
  std::uint64_t slot;
  RegisteredArea area;
};
static_assert(sizeof(LanePush) == 24);

/// What a process answers to all gets of another; the bytes follow, then padding to 16.
struct LaneAnswers {
  std::uint32_t source_pid;  ///< Who answers.
  std::uint32_t destination_pid;
  std::uint32_t bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(LaneAnswers) == 16);

/// A frame that is longer than `stage`, while it comes.
struct LaneLongFrame {
  std::uint32_t bytes;  ///< 0: none is under way.
  std::uint32_t come;   ///< Of these.
  std::uint32_t barrier;
  std::uint32_t wanted;  ///< 1: it is received where it belongs, in `in`; 0: it is too late.
};

/// LaneState::hold: which barriers a node's processes leave to their worker.
inline constexpr std::uint32_t kHoldNone = 0;
inline constexpr std::uint32_t kHoldAll = 1;
/// It has an order for an image: those at which one could be taken.
inline constexpr std::uint32_t kHoldForImage = 2;

/// LaneState::broken: why no process of the node uses lanes any more.
enum class LaneFault : std::uint32_t {
  kNone = 0,
  kFailed = 1,         ///< One was found closed or damaged.
  kNoDescriptors = 2,  ///< A process had no room for those that were handed to it.
};

/// Numbers of barriers here are one more than those of the group, modulo 2^32: 0 is none.
struct LaneState {
  // The worker's words.
  alignas(kLineBytes) std::atomic<std::uint32_t> on_from;  ///< The first barrier that is theirs.
  std::atomic<std::uint32_t> off;                          ///< 1: no process uses a lane again.
  std::atomic<std::uint32_t> by_worker;     ///< A barrier that some node has left to its worker.
  std::atomic<std::uint32_t> hold;          ///< kHoldNone, kHoldAll, kHoldForImage.
  std::atomic<std::uint32_t> published[2];  ///< By parity of the superstep: the directory has
                                            ///< entries of other nodes' processes by the worker.
  // The words of the last process to arrive.
  alignas(kLineBytes) std::atomic<std::uint32_t> sending;  ///< 1 while it sends.
  std::atomic<std::uint32_t> sent;         ///< The newest barrier of which frames lie in `out`.
  std::atomic<std::uint32_t> composed[2];  ///< The same, by parity of the barrier.
  std::atomic<std::uint32_t> broken;       ///< A LaneFault.
  std::uint32_t handed_before;             ///< WorkerBell::handed at the barrier before.
  std::uint32_t handed[2];  ///< By parity: chunks were handed over in that superstep.
  std::atomic<std::uint32_t>
      answers;  ///< The newest barrier of which answers lie in `answers_out`.
  std::atomic<std::uint32_t> in_parts;  ///< The newest barrier of which a frame has pieces.
  /// Its frame asks that host for something: the newest such barrier.
  std::atomic<std::uint32_t> asked[kLaneHostsMax];
  // The words of who drives.
  alignas(kLineBytes) std::atomic<std::uint32_t> driver;  ///< Its pid + 1; 0: nobody does.
  std::atomic<std::uint32_t> asleep;    ///< 1: it sleeps in the kernel, and the worker wakes it.
  std::uint32_t staged[kLaneHostsMax];  ///< Bytes of each host's next frames in `stage`.
  LaneLongFrame under_way[kLaneHostsMax];
  std::uint32_t installed[2];                 ///< By parity of the superstep: how many of `pairs`.
  std::atomic<std::uint32_t> totals_version;  ///< Odd while `totals` change.
  std::uint32_t ahead_from;  ///< Whose frames were enough at `ahead`: hosts, a bit each.
  std::atomic<std::uint32_t>
      ahead;                        ///< The processes went on from this barrier before it was over,
  std::atomic<std::uint32_t> back;  ///< and now one has come to the end of the next superstep.
  std::uint32_t relayed;  ///< Steps of the barrier `sent` in which this node has sent, a bit each.
  /// The barriers of the frames in `in`: the sender's number, then the barrier's parity.
  alignas(kLineBytes) std::atomic<std::uint32_t> here[kLaneHostsMax][2];
  std::uint32_t direct[kLaneHostsMax][2];  ///< LaneFrame::direct of these, and of the own ones.
  /// The newest barrier of which its answers lie in `answers_in`.
  std::atomic<std::uint32_t> answers_here[kLaneHostsMax];
  std::atomic<std::uint32_t> with_gets;  ///< The newest barrier with gets that frames completed.
  alignas(kLineBytes)
      SuperstepTotals totals;  ///< Of the supersteps that were completed here, but the last.
};

/// Records that a frame in `out` has, and that lie in the heap of a process: not at that place.
struct LanePiece {
  std::uint32_t at;  ///< In the frame.
  std::uint32_t bytes;
  std::uint64_t offset;  ///< In the segment.
};

/// Of a frame, in order. Shorter records are copied: a part more of what is sent costs more.
inline constexpr std::uint32_t kLanePieceBytesMin = 16 << 10;
inline constexpr std::uint32_t kLanePiecesMax = kLaneFrameBytesMax / kLanePieceBytesMin;

struct LanePieces {
  std::uint32_t count;
  LanePiece of[kLanePiecesMax];
};

struct LanePair {
  std::uint32_t source_pid;
  std::uint32_t destination_pid;
};

struct LaneArea {
  LaneState state;
  /// Entries of the directory that a frame brought, by parity of the superstep.
  LanePair pairs[2][kLaneHostsMax * kLanePairsMax];
  /// Of the frames in `out`.
  LanePieces pieces[kLaneHostsMax][2];
  /// By host and parity of the barrier. A frame stays until the second barrier after its own. That
  /// for this node itself has no entries.
  alignas(kPageBytes) std::byte out[kLaneHostsMax][2][kLaneFrameBytesMax];
  std::byte in[kLaneHostsMax][2][kLaneFrameBytesMax];
  /// By host. Answers stay until those of a later barrier are sent or come, which takes arrivals of
  /// all who read them.
  std::byte answers_out[kLaneHostsMax][kLaneShortBytesMax];
  std::byte answers_in[kLaneHostsMax][kLaneShortBytesMax];
  std::byte stage[kLaneHostsMax][kLaneShortBytesMax];  ///< What has come, but is no whole frame.
};

}  // namespace bspnow

#endif  // RUNTIME_LINK_LANE_H_
