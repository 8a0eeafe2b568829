// The calls of pub.h. They check what only they can see, and delegate.
#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "runtime/checked_argument.h"
#include "runtime/pub.h"
#include "runtime/pub/pub_object.h"
#include "runtime/running_process.h"
#include "runtime/transfers/bsmp_inbox.h"

namespace bspnow::runtime {
namespace {

constexpr Bounds kBounds{.begin = "bsplib_init", .end = "bsplib_done"};
// In each t_bsp that names an object; the lower half is the object's number.
constexpr std::uint64_t kMark = 0x5055'426f'0000'0000;
constexpr std::uint64_t kNumberMask = 0xffff'ffff;

[[noreturn]] __attribute__((cold)) void ReportNoObject(Call call, const t_bsp* bsp) {
  NameBounds(kBounds);
  if (bsp == nullptr) ReportMisuse(call, "the object is NULL; give the address of a t_bsp");
  ReportMisuse(
      call,
      "this t_bsp names no object: bsplib_init, bsp_partition or bsp_dup fill one, and after"
      " bsp_done it is of no use");
}

/// Also within an operation.
PubObject& ObjectNamed(Call call, const t_bsp* bsp) {
  if (__builtin_expect(bsp == nullptr || (bsp->mark_ & ~kNumberMask) != kMark, 0))
    ReportNoObject(call, bsp);
  const PubPlace& place = *static_cast<const PubPlace*>(bsp->object_);
  if (__builtin_expect((place.number & kNumberMask) != (bsp->mark_ & kNumberMask), 0))
    ReportNoObject(call, bsp);
  place.object->process().RequireBegun(call);
  return *place.object;
}

PubObject& ObjectOf(Call call, const t_bsp* bsp) {
  PubObject& object = ObjectNamed(call, bsp);
  object.process().RequireRunning(call);
  object.KeepUp(call);
  return object;
}

void Name(PubObject& object, t_bsp* bsp) {
  PubPlace& place = object.place();
  *bsp = {.mark_ = kMark | (place.number & kNumberMask), .object_ = &place};
}

void RequireRoomForName(Call call, const char* name, const t_bsp* bsp) {
  if (bsp == nullptr) ReportMisuse(call, "%s is NULL; give the address of a t_bsp", name);
}

// ---- Groups

void CheckParts(Call call, std::uint32_t p, int n, const int* part) {
  if (n < 1) ReportMisuse(call, "n is %d; there is at least one group", n);
  if (part == nullptr) ReportMisuse(call, "part is NULL; give the first pid after each group");
  for (int i = 0; i < n; ++i) {
    if (part[i] < (i == 0 ? 0 : part[i - 1]))
      ReportMisuse(call, "part[%d] is %d; the pids in part must ascend, from 0", i, part[i]);
  }
  if (static_cast<std::uint32_t>(part[n - 1]) != p) {
    ReportMisuse(call, "part[%d] is %d, and p is %u; the last group ends with the last process",
                 n - 1, part[n - 1], p);
  }
}

PubObject& Partitioned(PubObject& object, const int* part) {
  SpareRegions& spare = object.process().spare_regions();
  GrowArray<std::uint32_t> part_of;  // By pid.
  spare.Lend(part_of);
  std::uint32_t group = 0;
  for (std::uint32_t pid = 0; pid < object.group().p(); ++pid) {
    while (pid >= static_cast<std::uint32_t>(part[group])) ++group;
    part_of.push_back(group);
  }
  PubObject& made = object.MakePartition(part_of.begin());
  spare.TakeBack(part_of);
  return made;
}

// ---- Messages

void RequireBytes(Call call, const char* name, const void* area, std::uint64_t bytes) {
  if (area != nullptr || bytes == 0) return;
  ReportMisuse(call, "%s is NULL, and there are %llu bytes; give their address", name,
               static_cast<unsigned long long>(bytes));
}

void Send(Call call, PubObject& object, const PubMembers& to, const void* buf, int size) {
  const std::uint64_t bytes = Checked(call, "size", size);
  RequireBytes(call, "buf", buf, bytes);
  object.SendToAll(call, to, buf, bytes);
}

// Both ends are checked before they are counted: there may be more ints between them than an int
// can say.
PubMembers Range(Call call, PubObject& object, int first, int last) {
  if (first > last) {
    ReportMisuse(call, "first is %d, and last %d; the processes are first, first + 1, ..., last",
                 first, last);
  }
  object.group().CheckPid(call, first);
  object.group().CheckPid(call, last);
  return {.table = nullptr, .first = first, .count = last - first + 1};
}

PubMembers List(Call call, const int* table, int n) {
  if (n < 0) ReportMisuse(call, "n is %d; it must not be negative", n);
  if (table == nullptr && n != 0) ReportMisuse(call, "table is NULL; give a list of %d pids", n);
  return {.table = table, .first = 0, .count = n};
}

const MessageRecord& RecordOf(Call call, const t_bspmsg* msg) {
  if (msg == nullptr) {
    ReportMisuse(call,
                 "the message is NULL: there was none; ask bsp_nmsgs, or look at what"
                 " bsp_getmsg and bsp_findmsg return");
  }
  return *reinterpret_cast<const MessageRecord*>(msg);
}

// The bytes are the receiver's to change; they lie in shared memory that both may write.
t_bspmsg* HandleOf(const MessageRecord* message) {
  return reinterpret_cast<t_bspmsg*>(const_cast<MessageRecord*>(message));
}

// ---- Reductions

void Reduce(Call call, PubObject& object, const PubReductionCall& reduction) {
  const PubMembers& members = reduction.members;
  if (members.count < 1) ReportMisuse(call, "n is 0; a reduction has at least one member");
  for (int i = 0; i < members.count; ++i) {
    if (members[i] < object.group().p()) continue;
    ReportMisuse(call, "member %d is pid %d, which is outside 0..%u", i,
                 static_cast<int>(members[i]), object.group().p() - 1);
  }
  Checked(call, "count", reduction.count);
  const int place = object.PlaceAmong(call, members);
  if (place < 0) return;
  RequireBytes(call, "sbuf", reduction.value, reduction.bytes());
  if (reduction.HasResultAt(place)) RequireBytes(call, "rbuf", reduction.result, reduction.bytes());
  object.Reduce(call, reduction, place);
}

t_bspop Known(Call call, const t_bspop* op) {
  if (op == nullptr || op->combine == nullptr || op->size < 1) {
    ReportMisuse(call,
                 "op is NULL, or has no function or an element of no bytes; give the address"
                 " of a t_bspop");
  }
  return *op;
}

// ---- Remote memory

/// The arguments of a put or get, as the program gave them.
struct PubTransfer {
  Call call;
  t_bsp* bsp;
  int pid;
  const void* area;
  int offset;
  void* local;
  int size;
};

void Move(const PubTransfer& a, Direction direction, Buffering buffering) {
  PubObject& object = ObjectOf(a.call, a.bsp);
  if (a.size == 0) return;  // As in BSPlib.
  object.group().Move({.call = a.call.name,
                       .direction = direction,
                       .buffering = buffering,
                       .pid = a.pid,
                       .area = a.area,
                       .offset = Checked(a.call, "offset", a.offset),
                       .local = a.local,
                       .bytes = Checked(a.call, "size", a.size),
                       .call_site = a.call.site});
}

}  // namespace
}  // namespace bspnow::runtime

using namespace bspnow::runtime;  // NOLINT: the definitions below are in C's namespace.

#define PUB_CALL(name) (Call{name, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))})

extern "C" {

// ---- Start and end

void bsplib_saveargs(int*, char***) {}

void bsplib_init(const bsp_pub_parameters_*, t_bsp* bsp) {
  const Call call = PUB_CALL("bsplib_init");
  NameBounds(kBounds);
  RequireRoomForName(call, "bsp", bsp);
  Process& process = TheProcess();
  if (process.begin_ns() != 0)
    ReportMisuse(call, "a program has one bsplib_init and one bsplib_done only");
  process.Begin(process.nprocs());
  Name(PubObject::MakeRoot(process), bsp);
}

void bsplib_done(void) {
  const Call call = PUB_CALL("bsplib_done");
  NameBounds(kBounds);
  Process& process = RunningProcess(call);
  if (process.open_groups() != 0) {
    ReportMisuse(call, "%u objects of bsp_partition or bsp_dup are open still; call bsp_done first",
                 process.open_groups());
  }
  process.End(call.site);
}

// ---- Enquiry

int bsp_nprocs(t_bsp* bsp) {
  return static_cast<int>(ObjectNamed(PUB_CALL("bsp_nprocs"), bsp).group().p());
}
int bsp_pid(t_bsp* bsp) {
  return static_cast<int>(bspnow::Value(ObjectNamed(PUB_CALL("bsp_pid"), bsp).group().self()));
}

// ---- Groups

void bsp_partition(t_bsp* bsp, t_bsp* subbsp, int n, int* part) {
  const Call call = PUB_CALL("bsp_partition");
  PubObject& object = ObjectOf(call, bsp);
  RequireRoomForName(call, "subbsp", subbsp);
  CheckParts(call, object.group().p(), n, part);
  Name(Partitioned(object, part), subbsp);
}

void bsp_dup(t_bsp* bsp, t_bsp* dupbsp) {
  const Call call = PUB_CALL("bsp_dup");
  PubObject& object = ObjectOf(call, bsp);
  RequireRoomForName(call, "dupbsp", dupbsp);
  Name(object.MakeDuplicate(), dupbsp);
}

void bsp_threadsafe_dup(t_bsp* bsp, t_bsp* dupbsp) {
  const Call call = PUB_CALL("bsp_threadsafe_dup");
  PubObject& object = ObjectOf(call, bsp);
  RequireRoomForName(call, "dupbsp", dupbsp);
  if (object.group().simulated())
    ReportMisuse(call, "bsprun --simulate runs one process after another, and not their threads");
  Name(object.MakeForThread(), dupbsp);
}

// For bsp.hpp, whose programs have messages and tags of their own in the group of BSPlib's calls.
void bsp_pub_dup_section(t_bsp* dupbsp) {
  const Call call = PUB_CALL("bsp::group");
  Name(PubObject::MakeOfSection(RunningProcess(call)), dupbsp);
}

void bsp_done(t_bsp* bsp) {
  const Call call = PUB_CALL("bsp_done");
  PubObject& object = ObjectOf(call, bsp);
  if (object.IsRoot())
    ReportMisuse(call, "this is the object of all processes; bsplib_done ends the program's");
  if (!object.IsNewest()) {
    ReportMisuse(call,
                 "an object that this thread has made after this one is open still; close the"
                 " newest one first");
  }
  object.Close();
  *bsp = {};
}

// ---- Supersteps

void bsp_sync(t_bsp* bsp) {
  const Call call = PUB_CALL("bsp_sync");
  ObjectOf(call, bsp).Sync(call);
}

void bsp_oblsync(t_bsp* bsp, int n) {
  const Call call = PUB_CALL("bsp_oblsync");
  ObjectOf(call, bsp).SyncCounted(call, Checked(call, "n", n));
}

// ---- Messages

void bsp_send(t_bsp* bsp, int dest, const void* buf, int size) {
  const Call call = PUB_CALL("bsp_send");
  Send(call, ObjectOf(call, bsp), {.table = nullptr, .first = dest, .count = 1}, buf, size);
}
void bsp_hpsend(t_bsp* bsp, int dest, const void* buf, int size) {
  const Call call = PUB_CALL("bsp_hpsend");
  Send(call, ObjectOf(call, bsp), {.table = nullptr, .first = dest, .count = 1}, buf, size);
}

int bsp_nmsgs(t_bsp* bsp) {
  return static_cast<int>(ObjectOf(PUB_CALL("bsp_nmsgs"), bsp).messages());
}
t_bspmsg* bsp_getmsg(t_bsp* bsp, int i) {
  const Call call = PUB_CALL("bsp_getmsg");
  return HandleOf(ObjectOf(call, bsp).Message(call, Checked(call, "i", i)));
}
t_bspmsg* bsp_findmsg(t_bsp* bsp, int src, int i) {
  const Call call = PUB_CALL("bsp_findmsg");
  PubObject& object = ObjectOf(call, bsp);
  const auto source = static_cast<std::uint32_t>(src);
  if (source >= object.group().p())
    ReportMisuse(call, "src is %d, which is outside 0..%u", src, object.group().p() - 1);
  return HandleOf(object.MessageFrom(call, source, Checked(call, "i", i)));
}

void* bspmsg_data(t_bspmsg* msg) {
  const Call call = PUB_CALL("bspmsg_data");
  return PubObject::DataOf(call, RecordOf(call, msg));
}
int bspmsg_size(t_bspmsg* msg) {
  return static_cast<int>(RecordOf(PUB_CALL("bspmsg_size"), msg).payload_bytes());
}
int bspmsg_src(t_bspmsg* msg) {
  return static_cast<int>(TagOf(RecordOf(PUB_CALL("bspmsg_src"), msg)).source);
}

// ---- Collective communication: of a range of pids, and of a list of them

#define PUB_COLLECTIVE_SEND(RANGE_NAME, LIST_NAME)                              \
  void RANGE_NAME(t_bsp* bsp, int first, int last, const void* buf, int size) { \
    const Call call = PUB_CALL(#RANGE_NAME);                                    \
    PubObject& object = ObjectOf(call, bsp);                                    \
    Send(call, object, Range(call, object, first, last), buf, size);            \
  }                                                                             \
  void LIST_NAME(t_bsp* bsp, int* table, int n, const void* buf, int size) {    \
    const Call call = PUB_CALL(#LIST_NAME);                                     \
    Send(call, ObjectOf(call, bsp), List(call, table, n), buf, size);           \
  }

PUB_COLLECTIVE_SEND(bsp_gsend, bsp_lsend)
PUB_COLLECTIVE_SEND(bsp_hpgsend, bsp_hplsend)

#define PUB_REDUCTION(RANGE_NAME, LIST_NAME, KIND)                                                 \
  void RANGE_NAME(t_bsp* bsp, int first, int last, const void* sbuf, void* rbuf, int count,        \
                  const t_bspop* op, void* param) {                                                \
    const Call call = PUB_CALL(#RANGE_NAME);                                                       \
    PubObject& object = ObjectOf(call, bsp);                                                       \
    const PubMembers members = Range(call, object, first, last);                                   \
    Reduce(call, object, {KIND, members, sbuf, rbuf, count, Known(call, op), param});              \
  }                                                                                                \
  void LIST_NAME(t_bsp* bsp, int* table, int n, const void* sbuf, void* rbuf, int count,           \
                 const t_bspop* op, void* param) {                                                 \
    const Call call = PUB_CALL(#LIST_NAME);                                                        \
    const PubMembers members = List(call, table, n);                                               \
    Reduce(call, ObjectOf(call, bsp), {KIND, members, sbuf, rbuf, count, Known(call, op), param}); \
  }

PUB_REDUCTION(bsp_greduce, bsp_lreduce, PubReduction::kToLast)
PUB_REDUCTION(bsp_gallreduce, bsp_lallreduce, PubReduction::kToAll)
PUB_REDUCTION(bsp_gscan, bsp_lscan, PubReduction::kPrefix)
PUB_REDUCTION(bsp_gallscan, bsp_lallscan, PubReduction::kAllPrefixes)

// ---- Remote memory

void bsp_push_reg(t_bsp* bsp, const void* ident, int size) {
  const Call call = PUB_CALL("bsp_push_reg");
  ObjectOf(call, bsp).group().Push(call, reinterpret_cast<std::uintptr_t>(ident),
                                   Checked(call, "size", size));
}
void bsp_pop_reg(t_bsp* bsp, const void* ident) {
  const Call call = PUB_CALL("bsp_pop_reg");
  ObjectOf(call, bsp).group().Pop(call, reinterpret_cast<std::uintptr_t>(ident));
}

#define PUB_TRANSFER(PUT, GET, BUFFERING)                                                         \
  void PUT(t_bsp* bsp, int pid, const void* src, void* dest, int offset, int size) {              \
    Move({PUB_CALL(#PUT), bsp, pid, dest, offset, const_cast<void*>(src), size}, Direction::kPut, \
         BUFFERING);                                                                              \
  }                                                                                               \
  void GET(t_bsp* bsp, int pid, const void* src, int offset, void* dest, int size) {              \
    Move({PUB_CALL(#GET), bsp, pid, src, offset, dest, size}, Direction::kGet, BUFFERING);        \
  }

PUB_TRANSFER(bsp_put, bsp_get, Buffering::kBuffered)
PUB_TRANSFER(bsp_hpput, bsp_hpget, Buffering::kUnbuffered)

}  // extern "C"
