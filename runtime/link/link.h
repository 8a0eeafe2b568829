// The link: what a BSP process and the worker of its node share. A Unix socket (SOCK_SEQPACKET) for
// hello, and one segment of memory (a memfd) per job and node, laid out as follows.
//
//   NodeHeader                                  written by the worker, the barrier by all
//   ProcessCell[nprocs]                         state of each process
//   DirectoryEntry[2][nprocs][nprocs]           by parity, by who reads, by who owes it
//   std::uint64_t stamps[2][nprocs][nprocs]     of these entries: see Segment::stamp
//   Measurement[nprocs][kRingSupersteps]        the last supersteps
//   HandedChunk[nprocs][2][kHandedMax]          chunks given to the worker early, by parity
//   RegisteredArea[.][nprocs][kSlotsOfBlock]    each process's part of each registration slot
//   std::uint64_t pops[nprocs][2][kSlotsMax]    the registrations popped, by parity
//   std::uint64_t pushes[nprocs][2][kSlotsMax]  the slots pushed, by parity
//   GroupSums[nprocs][kRingSupersteps]          what groups did in the last supersteps
//   arena of pid 0, arena of pid 1, ...         each arena_bytes long, sparse:
//     heap 0, heap 1                            outbox chunks, by parity
//     heap 2                                    answers to gets
//   heads of pid 0, heads of pid 1, ...         the first head_bytes of each of these heaps
//   profile of pid 0, profile of pid 1, ...     see superstep_profile.h
//   LaneArea                                    see lane.h
//   TurnOrder, TurnPlace[nprocs]                of a job that is simulated: see base/turn.h
//   parts of groups                             see GroupSlot; their table is before the arenas
//
// One segment instead of one memfd per process (docs/design.md): with p = 256 on a node, 65,536
// descriptors would change hands. Pages cost memory only when touched, but so do the page tables of
// each process that touches them, 4 KiB for 2 MiB: what all read of all lies together by kind, not
// by process, and so do the heads of the heaps, in which small supersteps find room. All numbers
// are little-endian; offsets of chunks, those in heads, too, are bytes from the start of the arena.
//
// A job on several nodes has such a segment on each, laid out alike for all its processes. The cell
// and arena of a process that lives elsewhere are its image here: the worker here writes what the
// processes here must see of it (directory entries and chunks towards them, votes, slots), in the
// same format. So a process finds everything by pid, wherever that pid lives.
// This header is the only door between runtime/ and worker/.
#ifndef RUNTIME_LINK_LINK_H_
#define RUNTIME_LINK_LINK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "base/poll_wait.h"
#include "base/superstep_totals.h"
#include "base/turn.h"
#include "runtime/link/counted_wait.h"
#include "runtime/link/memory_group.h"
#include "runtime/link/records.h"
#include "runtime/link/superstep_profile.h"

namespace bspnow {

inline constexpr std::uint32_t kLinkMagic = 0x4e505342;  // "BSPN"
inline constexpr std::uint32_t kLinkVersion = 23;
inline constexpr char kLinkVariable[] = "BSPNOW_LINK";  // The socket's descriptor, in decimal.

inline constexpr std::uint64_t kSlotsMax = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kSlotsOfBlock = 256;  // Of one process, a page.
inline constexpr std::uint64_t kRingSupersteps = 256;
inline constexpr std::uint64_t kFoldSupersteps = kRingSupersteps / 2;
inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::uint32_t kHandedMax = 16;
inline constexpr std::uint32_t kEarlyMax = 8;
inline constexpr int kHeaps = 3;
inline constexpr int kAnswerHeap = 2;
inline constexpr std::uint64_t kHeapBytesMin = std::uint64_t{1} << 28;     // If there is room.
inline constexpr std::uint64_t kHeapBytesLeast = std::uint64_t{16} << 20;  // Even if not.
inline constexpr std::uint64_t kFirstChunkBytes = 1024;  // Of a chain; a head has one for each pid,
inline constexpr std::uint64_t kHeadBytesMin = 64 << 10;
inline constexpr std::uint64_t kHeadBytesMax = 1 << 20;  // up to this.

inline constexpr std::uint32_t kLanesMax = 30;      // Of a process: to the other hosts of its job.
inline constexpr std::uint32_t kBulkLanesMax = 30;  // Of a node: see bulk_plan.h.
inline constexpr std::uint32_t kRefusedPid = 0xffffffff;

/// From process to worker, one message each. A restored process sends kHello and kBegin
/// again, on a new link.
struct LinkHello {
  enum Kind : std::uint32_t {
    kHello = 1,
    kBegin = 2,
    kSaving = 3,  ///< At the barrier of an ImageOrder: where to? Waits for a LinkImagePlace.
    kResume = 4,  ///< In bsp_checkpoint_resume: is there an image of my areas? Waits, too.
  };
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t kind;
  std::uint32_t os_pid;
};

/// From worker to process, the answer to kHello; carries the segment's descriptor, and after it,
/// if the job has several nodes, two sockets: the worker's doorbell (see WorkerBell), and the
/// mailbox (see LaneHanding).
struct LinkWelcome {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t pid;         ///< kRefusedPid: another program of this process has joined before.
  std::uint32_t processors;  ///< Of this node, for the choice between polling and yielding.
  std::uint64_t segment_bytes;
};

/// The message in the mailbox, a SOCK_SEQPACKET pair of which all processes of the node hold the
/// same end: the worker puts as many there as it has processes of the job, all alike, and each
/// process takes one. It carries the node's lanes: a connected, non-blocking TCP socket to each
/// other host of the job, by ascending number; then its bulk lanes (bulk_plan.h), of which a
/// process keeps its own. What nobody takes goes with the mailbox.
struct LaneHanding {
  std::uint32_t hosts;  ///< Of the job, this one included: at most kLanesMax + 1.
  std::uint32_t bulk_lanes;
  std::uint32_t trusted;  ///< 1: what goes by bulk lanes needs no checksums but TCP's.
  std::uint32_t reserved;
};

/// The answer to kSaving, when all processes of the node have asked; by then none of them runs, so
/// output and files are as they were at the barrier. Carries the descriptor of the directory of
/// this job's images (runtime/image/image_format.h). Also the answer to kResume: then it carries
/// the descriptor of this process's image, or none if the program starts from its beginning.
struct LinkImagePlace {
  std::uint32_t magic;
  std::uint32_t version;
};

/// What became of an image; from the process, or from the child that wrote it meanwhile. Its
/// first three fields are those of LinkHello.
struct LinkImageReport {
  static constexpr std::uint32_t kKind = 5;
  static constexpr std::size_t kReasonBytes = 400;
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t kind;     ///< kKind.
  std::uint32_t written;  ///< 1: complete, but not yet synced; 0: given up, see `reason`.
  std::uint64_t checkpoint;
  std::uint64_t file_bytes;
  std::uint64_t cpu_ns;  ///< That the writer took.
  std::uint64_t write_ns;
  char reason[kReasonBytes];  ///< Ends with 0: what cannot be saved, or which call failed, and how.
};

/// How far a process has come; only ever grows.
enum class ProcessState : std::uint32_t {
  kStarted = 0,   ///< The program may not be a BSP program at all.
  kAttached = 1,  ///< Has sent kHello.
  kUnneeded = 2,  ///< bsp_begin asked for fewer processes; leaving.
  kRunning = 3,   ///< Between bsp_begin and bsp_end.
  kEnded = 4,     ///< After bsp_end.
  kAborted = 5,   ///< bsp_abort or a misuse; the message is out.
};

/// The barrier of one group on one node. Two phases, by parity of the barrier's number: the last to
/// arrive clears the other phase, which everybody has read by then.
struct alignas(kLineBytes) BarrierPhase {
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> with_data;    ///< Processes that owe or want anything but gets.
  std::atomic<std::uint32_t> with_gets;    ///< Processes that issued buffered gets.
  std::atomic<std::uint32_t> with_votes;   ///< Processes that pushed, popped or set the tag size.
  std::atomic<std::uint32_t> ending;       ///< Processes that are in bsp_end.
  std::atomic<std::uint32_t> with_groups;  ///< Processes that are in other groups, too: no image.
  std::atomic<std::uint32_t> answered;     ///< Processes here that have answered all gets.
  std::atomic<std::uint32_t> save;         ///< 1: at the end of this bsp_sync, see ImageOrder.
  std::atomic<std::uint32_t> by_count;     ///< Processes that end the superstep by a count.
  std::atomic<std::uint32_t> after_count;  ///< And the one before it, so without a barrier.
  std::atomic<std::uint64_t> called_ns;    ///< When the last of them here called bsp_sync.
};

struct alignas(kLineBytes) NodeBarrier {
  BarrierPhase phases[2];
  alignas(kLineBytes) SharedCounter released;  ///< Barriers passed; bsp_begin's is the first.
};

/// What the processes of a node report to their worker if the job has several nodes. Each word
/// grows by the process that has something to say; that process then looks at `sleeping`, and if it
/// is set sends a byte to the doorbell, a socket. The worker sets `sleeping`, looks at the words
/// once more, and only then sleeps; so no ring is lost, and none costs a system call while the
/// worker polls. A program may have closed the doorbell: the worker looks at the words now and then
/// in any case.
struct alignas(kLineBytes) WorkerBell {
  std::atomic<std::uint32_t> sleeping;  ///< By the worker.
  std::atomic<std::uint32_t> barriers;  ///< Barriers at which all processes of the node arrived.
  std::atomic<std::uint32_t> answers;   ///< s + 1 when all of them have answered the gets of s.
  std::atomic<std::uint32_t> handed;    ///< Chunks handed over; see HandedChunk.
  std::atomic<std::uint32_t> begun;     ///< 1 once pid 0 has set `participants`.
  std::atomic<std::uint32_t> groups;    ///< Slots opened or left, of groups on several nodes.
};

/// The groups that have members on this node, but for the root group, which is all of the job. What
/// a group needs lies in a part of the segment of its own, laid out as the segment of a job of its
/// members, which have pids of their own in it (LayOutGroup). The first member here takes
/// a slot and a part; the last one to leave gives them up, or its worker does, if the group has
/// members on other nodes: see kLeft. The memory of some parts is kept: see Segment::GiveUpPart.
struct alignas(kLineBytes) GroupSlot {
  enum State : std::uint32_t {
    kFree = 0,
    kOpen = 1,
    kLeft = 2,  ///< By all members here. The worker frees it when their frames have arrived.
    kKept = 3,  ///< Free for a group of as many members, with the memory of its part.
  };
  std::atomic<std::uint32_t> state;
  std::uint32_t members;
  std::uint64_t key;     ///< GroupId; the same on all nodes.
  std::uint64_t offset;  ///< Of its part, from the start of the segment,
  std::uint64_t bytes;   ///< and its length.
  std::uint32_t here;    ///< Members on this node.
  std::uint32_t nodes;   ///< On which it has members; 1: no worker takes part.
  std::uint32_t left;    ///< Members here that have left it. Under GroupTable::lock.
  std::uint32_t large;   ///< 1: some member here has used much of the part. The same.
  std::uint32_t child;   ///< Of its parent, counted from 1; for whoever names it.
  std::uint64_t parent;  ///< Its key; 0: the root group.
};
inline constexpr std::uint32_t kGroupSlotsMax = 4096;

struct alignas(kLineBytes) GroupTable {
  std::atomic<std::uint32_t> lock;        ///< Held by a process while it takes or gives up a slot.
  std::atomic<std::uint32_t> used;        ///< Slots that were ever taken: the first ones.
  std::uint64_t next_part;                ///< Where the next one may be free. Under the lock.
  std::atomic<std::uint64_t> kept_bytes;  ///< Of parts that are kept, at most.
  std::atomic<std::uint32_t> open;  ///< Groups that members here have opened, and not all left.
};

/// The checkpoint that the processes are to take part in. If the job has several nodes the worker
/// fills it and sets BarrierPhase::save when it releases the barrier. If it has one, the worker
/// fills it and then raises `wanted`; the last process to arrive at a bsp_sync finds it above
/// `taken`, and sets both `save` and `taken`. Only one is under way at a time. Where supersteps end
/// by counts who finds it names one in `ends_at`, which all end by a barrier: Group::AgreeOnImage.
struct alignas(kLineBytes) ImageOrder {
  std::uint64_t checkpoint;  ///< Its number in the job, from 1.
  std::uint64_t base;        ///< Write only what changed since this one; 0: everything.
  std::uint32_t hold;        ///< 1: wait after the image, until released or death.
  std::uint32_t reserved;
  std::atomic<std::uint64_t> wanted;
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> ends_at;  ///< Of the superstep: ProcessCell::started. Or kChoosing.
  static constexpr std::uint64_t kChoosing = ~std::uint64_t{0};
  alignas(kLineBytes) SharedCounter released;  ///< Grows whenever `released_to` has grown.
  std::atomic<std::uint64_t> released_to;      ///< The last checkpoint whose `hold` is over.

  /// Numbers of checkpoints use all 64 bits, and grow by any step.
  bool Holds(std::uint64_t number) const { return released_to.load() < number; }
  void ReleaseHeld(std::uint64_t number);  ///< One at a time.
  void AwaitRelease(std::uint64_t number, PollWait& wait);
};

/// How the model counts a message in h: its bytes, or `least_bytes` if it has fewer (BSP*), and
/// `more_bytes` besides (n1/2).
struct MessageSizes {
  std::uint64_t least_bytes = 0;
  std::uint64_t more_bytes = 0;

  constexpr bool as_they_are() const { return least_bytes == 0 && more_bytes == 0; }
  constexpr std::uint64_t Counted(std::uint64_t bytes) const {
    return (bytes < least_bytes ? least_bytes : bytes) + more_bytes;
  }
};

/// Where everything is. Fixed before any process runs; each side keeps a copy of its own, so that a
/// program that scribbles over the segment cannot lead the worker astray.
struct SegmentLayout {
  std::uint32_t nprocs;         ///< Processes started.
  std::uint32_t check_full;     ///< BSP_CHECK=full: records carry call sites.
  std::uint32_t check_textual;  ///< BSP_CHECK=textual: votes carry them.
  std::uint32_t reserved;
  std::uint64_t cells_offset;  ///< This and the other offsets: from the start of the segment.
  std::uint64_t directories_offset;
  std::uint64_t stamps_offset;
  std::uint64_t rings_offset;
  std::uint64_t group_sums_offset;  ///< 0 of a group's part.
  std::uint64_t handed_offset;
  std::uint64_t slots_offset;
  std::uint64_t pops_offset;
  std::uint64_t pushes_offset;
  std::uint64_t arenas_offset;
  std::uint64_t arena_bytes;
  std::uint64_t heap_bytes;
  std::uint64_t heads_offset;
  std::uint64_t head_bytes;
  std::uint64_t profiles_offset;  ///< 0 of a group's part.
  std::uint64_t lanes_offset;     ///< LaneArea (lane.h); 0 of a group's part.
  std::uint64_t turns_offset;     ///< TurnOrder; 0: the processes take no turns, or of a group.
  MessageSizes message_sizes;     ///< Of a job that is simulated.
  std::uint64_t memory_max;       ///< That all heaps here may hold together, heads not counted.
  std::uint64_t groups_offset;    ///< GroupSlot[kGroupSlotsMax]
  std::uint64_t parts_offset;
  std::uint64_t parts_bytes;  ///< 0: there is no room for groups, or this is a group's part.
};

struct NodeHeader {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t job;
  std::uint64_t epoch;
  SegmentLayout layout;
  std::uint32_t node;                    ///< This node's number in the job; see ProcessCell::node.
  std::uint32_t nodes;                   ///< 1: the processes release each other, and no worker.
  SharedCounter participants;            ///< p, set by pid 0 in bsp_begin; 0 before.
  std::atomic<std::uint32_t> reporting;  ///< Set by the first process that reports a misuse.
  /// An epoch counts its supersteps from 0, and this is to be added to show one: 0 at a start. An
  /// epoch that resumes after superstep S - 1 begins with that superstep's number, S - 1, for the
  /// one in which it only exchanges the registrations again.
  std::uint64_t first_superstep;
  /// Nobody leaves a barrier after this moment (NowNs) until it has been put off; the
  /// worker does so with each answer to its heartbeat. All ones: there is no lease.
  std::atomic<std::uint64_t> lease_until_ns;
  NodeBarrier barrier;  ///< Of the root group.
  WorkerBell bell;
  GroupTable groups;
  ImageOrder image;
  alignas(kLineBytes) std::atomic<std::uint32_t> totals_version;  ///< Odd while `totals` change.
  SuperstepTotals totals;  ///< As far as is folded: see FoldMeasurements.
  /// HeapUse::peak of all heaps, whoever fills them; in a group's part: see held_in_part.
  alignas(kLineBytes) std::atomic<std::uint64_t> heap_memory;
  MemoryGroup memory_group;
};
static_assert(sizeof(NodeHeader) <= 2 * kPageBytes, "more would move what follows");

/// What a process did to the registrations in a superstep; equal on all processes, or an error.
struct RegistrationVote {
  std::uint64_t superstep;  ///< A vote of another superstep counts as: nothing done.
  std::uint64_t digest;     ///< Of the sequence of pushes and pops.
  std::uint64_t pushes;
  std::uint64_t pops;
  std::uint64_t tag_bytes;  ///< The tag size from the next superstep on.
  std::uint64_t site;       ///< BSP_CHECK=textual: RecordedCallSite of the bsp_sync; else 0.
};

/// Unbuffered puts that came for a process from another node: chunks of one PutRecord each, in the
/// images of their sources, which it writes itself while it is in bsp_sync. One ring for each
/// parity; of its superstep a process takes all that has been offered when it is released. What
/// finds no place is written after the barrier, as an ordinary put. The memory of a chunk that was
/// taken is used again.
struct alignas(kLineBytes) EarlyPuts {
  struct Place {
    std::uint32_t pid;  ///< The source.
    std::uint32_t reserved;
    std::uint64_t offset;  ///< Of the chunk in its arena.
  };
  std::atomic<std::uint32_t> offered;  ///< By the worker, ever; the n-th is at n % kEarlyMax.
  Place places[kEarlyMax];
  alignas(kLineBytes) std::atomic<std::uint32_t> taken;  ///< By the process, ever.
};

struct alignas(kLineBytes) ProcessCell {
  std::atomic<ProcessState> state;
  std::uint32_t os_pid;
  /// A word of the process's memory and its value: who reads it by os_pid and finds the value has
  /// the right process (in pid namespaces of their own several processes have one number).
  std::uint64_t probe_address;
  std::uint64_t probe_value;
  std::uint32_t in_end;                 ///< Set when bsp_end is called.
  std::uint32_t node;                   ///< Where the process lives; set by the worker.
  std::uint32_t member;                 ///< In a group's part: its pid in the job.
  std::atomic<std::uint32_t> arrived;   ///< Barriers at which it has arrived, ever.
  std::uint64_t image_pause_ns;         ///< For how long the last image held the process.
  std::atomic<std::uint64_t> recorded;  ///< Supersteps in the ring so far.
  std::uint64_t expected;  ///< Messages that it waits for at the end of a counted superstep.
  alignas(kLineBytes) SharedCounter started;   ///< s + 1 while superstep s runs.
  alignas(kLineBytes) SharedCounter answered;  ///< s + 1 when the gets of s are answered.
  CountedWait counted_wait;
  std::atomic<std::uint32_t> room_waits;        ///< Odd while it waits for room for one more group.
  alignas(kLineBytes) SharedCounter announced;  ///< Stamps of entries for this process, ever.
  alignas(kLineBytes) RegistrationVote votes[2];  ///< By parity of the superstep.
  EarlyPuts early[2];                             ///< The same.
};

/// What one process owes another in one superstep. Offsets of first chunks are 0 for none.
struct alignas(kLineBytes) DirectoryEntry {
  std::uint64_t puts;
  std::uint64_t gets;
  std::uint64_t messages;
  std::uint64_t answers;        ///< To the gets of the other, in heap 2; no chunks, just the bytes.
  std::uint64_t bytes_to;       ///< That the other receives: puts, messages, direct puts.
  std::uint64_t bytes_from;     ///< That the other has to send: gets, direct gets.
  std::uint32_t message_count;  ///< At most kMessagesMax.
  std::uint32_t transfers;      ///< Puts and gets. For figures only: it may overflow.
  std::uint64_t message_bytes;  ///< Payloads only.
};
static_assert(sizeof(DirectoryEntry) == kLineBytes, "one line per pair of processes");

/// From one process to another in one superstep. Looked at for each chunk, which holds far fewer
/// than there is room for above.
inline constexpr std::uint32_t kMessagesMax = ~std::uint32_t{0} - (1u << 20);

struct RegisteredArea {
  std::uint64_t address;  ///< In the process that registered it; 0 for NULL.
  std::uint64_t bytes;
};

/// One superstep of one process, in its ring.
struct alignas(kLineBytes) Measurement : ProfileRecord {
  std::uint64_t site;  ///< Of its profile: ProfileHead::sites; and kWithGroups.
};
static_assert(sizeof(Measurement) == kLineBytes);

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "shared between processes");

}  // namespace bspnow

#endif  // RUNTIME_LINK_LINK_H_
