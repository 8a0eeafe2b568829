// The calls of bsp.h, in both dialects. They check signs and pointers, which only they can see, and
// delegate; there is no logic here. The one mutable global of the project lives here, because
// BSPlib has no context argument.
#include <pthread.h>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "runtime/checked_argument.h"
#include "runtime/link/report.h"
#include "runtime/link/standard_output.h"
#include "runtime/running_process.h"

// Both dialects are defined here: bsp.h is included as the paper's, and the MulticoreBSP symbols
// are declared by their definitions.
#define BSP_ADDRESS_ONLY_  // For callers; GCC would warn of the definitions.
#include "runtime/bsp.h"

// A note in every program that is linked with this file: by it the launcher knows a BSP program.
// Name "bspnow", type 1, version 1; four-byte words, as the ELF specification defines notes.
__asm__(
    ".pushsection .note.bspnow,\"a\",@note\n"
    ".balign 4\n"
    ".long 7, 4, 1\n"
    ".asciz \"bspnow\"\n"
    ".balign 4\n"
    ".long 1\n"
    ".popsection\n");

namespace bspnow::runtime {
namespace {

// Never destroyed: a program may call bsp_time in its last destructor.
union OneProcess {
  Process process;
  constexpr OneProcess() : process() {}
  ~OneProcess() {}
};
constinit OneProcess one;         // tidy: the one global
std::uint64_t last_dtime_ns = 0;  // tidy: bsp_dtime's, local to the call; since bsp_begin

// Before the constructors of the program, which may print, or fork.
[[gnu::constructor(101)]] void Prepare() {
  WriteLinesAtOnce();
  pthread_atfork(nullptr, nullptr, [] { one.process.BecomeChild(); });
}

Process& Running(Call call) {
  one.process.RequireRunning(call);
  return one.process;
}

// Turns a size or count of ours into one of the dialect; error if it does not fit.
template <typename Size>
Size Fitting(Call call, std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<Size>::max())) {
    ReportMisuse(
        call, "the value %llu does not fit into an int; use size_t (BSP_MULTICORE) or INTEGER(8)",
        static_cast<unsigned long long>(value));
  }
  return static_cast<Size>(value);
}

template <typename T>
void RequirePointer(Call call, const char* name, const T* pointer) {
  if (pointer == nullptr) ReportMisuse(call, "%s is NULL; give the address of a variable", name);
}

/// The arguments that puts and gets have in common, as the user gave them.
template <typename Size>
struct Arguments {
  const char* call;
  std::int64_t pid;
  const void* area;
  Size offset;
  void* local;
  Size bytes;
  void* call_site;

  Call caller() const { return {call, reinterpret_cast<std::uintptr_t>(call_site)}; }
};

template <typename Size>
Transfer Checked(const Arguments<Size>& a, Direction direction, Buffering buffering) {
  return Transfer{.call = a.call,
                  .direction = direction,
                  .buffering = buffering,
                  .pid = a.pid,
                  .area = a.area,
                  .offset = Checked(a.caller(), "offset", a.offset),
                  .local = a.local,
                  .bytes = Checked(a.caller(), "nbytes", a.bytes),
                  .call_site = reinterpret_cast<std::uintptr_t>(a.call_site)};
}

template <typename Size>
[[gnu::noinline]] void Move(const Arguments<Size>& a, Direction direction, Buffering buffering) {
  Process& process = Running(a.caller());
  if (a.bytes == 0) return;  // "A communication of zero bytes does nothing."
  process.Move(Checked(a, direction, buffering));
}

/// Unchecked: a negative size is one that no transfer has.
template <typename Size>
NextTransfer Next(std::int64_t pid, const void* area, Size offset, const void* local, Size bytes) {
  return {pid, area, static_cast<std::uint64_t>(offset), const_cast<void*>(local),
          static_cast<std::uint64_t>(bytes)};
}

template <typename Size>
void DirectGet(const Arguments<Size>& a) {
  Process& process = Running(a.caller());
  if (a.bytes == 0) return;
  process.MoveNow(Checked(a, Direction::kGet, Buffering::kUnbuffered));
}

template <typename Size>
void PushReg(Call call, const void* ident, Size size) {
  Running(call).Push(call, reinterpret_cast<std::uintptr_t>(ident), Checked(call, "size", size));
}

void PopReg(Call call, const void* ident) {
  Running(call).Pop(call, reinterpret_cast<std::uintptr_t>(ident));
}

template <typename Size>
void RegisterForCheckpoints(Call call, void* data, Size nbytes) {
  Running(call).RegisterForCheckpoints(data, Checked(call, "nbytes", nbytes));
}

template <typename Size>
void SetTagsize(Call call, Size* tag_nbytes) {
  Process& process = Running(call);
  RequirePointer(call, "tag_nbytes", tag_nbytes);
  *tag_nbytes = static_cast<Size>(process.SetTagBytes(Checked(call, "tag_nbytes", *tag_nbytes)));
}

template <typename Size>
[[gnu::noinline]] void Send(Call call, std::int64_t pid, const void* tag, const void* payload,
                            Size bytes) {
  Running(call).Send(call, pid, tag, payload, Checked(call, "payload_nbytes", bytes));
}

template <typename Count, typename Size>
void Qsize(Call call, Count* nmessages, Size* accum_nbytes) {
  BsmpInbox& inbox = Running(call).inbox();
  RequirePointer(call, "nmessages", nmessages);
  *nmessages = Fitting<Count>(call, inbox.count());
  if (accum_nbytes != nullptr) *accum_nbytes = Fitting<Size>(call, inbox.payload_bytes());
}

template <typename Size>
[[gnu::noinline]] void GetTagChecked(Call call, Size* status, void* tag) {
  BsmpInbox& inbox = Running(call).inbox();
  RequirePointer(call, "status", status);
  if (inbox.empty()) {
    *status = static_cast<Size>(-1);
    return;
  }
  const BsmpInbox::Message message = inbox.Front();
  if (inbox.tag_bytes() != 0) RequirePointer(call, "tag", tag);
  *status = Fitting<Size>(call, message.payload_bytes);
  Copy(tag, message.tag, inbox.tag_bytes());
}

/// Whether there is a first message, of which a call of this dialect can say the length.
template <typename Size>
bool HasMessage() {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<Size>::max());
  BsmpInbox& inbox = one.process.inbox();
  return one.process.running() && !inbox.empty() && inbox.Front().payload_bytes <= kMax;
}

template <typename Size>
void GetTag(Call call, Size* status, void* tag) {
  const BsmpInbox& inbox = one.process.inbox();
  if (!HasMessage<Size>() || status == nullptr || tag == nullptr || !IsWord(inbox.tag_bytes()))
    return GetTagChecked(call, status, tag);
  const BsmpInbox::Message message = inbox.Front();
  *status = static_cast<Size>(message.payload_bytes);
  Copy(tag, message.tag, inbox.tag_bytes());
}

template <typename Size>
[[gnu::noinline]] void MoveChecked(Call call, void* payload, Size reception_nbytes) {
  BsmpInbox& inbox = Running(call).inbox();
  const std::uint64_t room = Checked(call, "reception_nbytes", reception_nbytes);
  if (inbox.empty()) {
    ReportMisuse(call, "the queue is empty; ask bsp_qsize or bsp_get_tag first");
  }
  const BsmpInbox::Message message = inbox.Front();
  const std::uint64_t bytes = message.payload_bytes < room ? message.payload_bytes : room;
  if (bytes != 0) {
    RequirePointer(call, "payload", payload);
    Copy(payload, message.payload, bytes);
  }
  inbox.Pop();
}

template <typename Size>
void MovePayload(Call call, void* payload, Size reception_nbytes) {
  BsmpInbox& inbox = one.process.inbox();
  if (!HasMessage<Size>() || payload == nullptr || !IsWord(inbox.Front().payload_bytes) ||
      reception_nbytes < static_cast<Size>(inbox.Front().payload_bytes))
    return MoveChecked(call, payload, reception_nbytes);
  Copy(payload, inbox.Front().payload, inbox.Front().payload_bytes);
  inbox.Pop();
}

/// What bsp_hpmove returns where there is no message to move, or the end of the job.
template <typename Size>
[[gnu::noinline]] Size WhyNoHpMove(Call call, void** tag_ptr, void** payload_ptr) {
  BsmpInbox& inbox = Running(call).inbox();
  if (inbox.empty()) return static_cast<Size>(-1);
  RequirePointer(call, "tag_ptr", tag_ptr);
  RequirePointer(call, "payload_ptr", payload_ptr);
  return Fitting<Size>(call, inbox.Front().payload_bytes);
}

template <typename Size>
Size HpMove(Call call, void** tag_ptr, void** payload_ptr) {
  BsmpInbox& inbox = one.process.inbox();
  if (!HasMessage<Size>() || tag_ptr == nullptr || payload_ptr == nullptr)
    return WhyNoHpMove<Size>(call, tag_ptr, payload_ptr);
  const BsmpInbox::Message message = inbox.Front();
  // The queue is the receiver's to write on; its bytes lie in shared memory that both may change.
  *tag_ptr = const_cast<std::byte*>(message.tag);
  *payload_ptr = const_cast<std::byte*>(message.payload);
  if (__builtin_expect(inbox.front_is_shared(), 0)) {  // Sent by PUB's calls.
    *payload_ptr = OwnPayload(call.name, one.process.group().delivery(), inbox.FrontRecord());
  }
  inbox.Pop();
  return static_cast<Size>(message.payload_bytes);
}

}  // namespace

Process& RunningProcess(Call call) { return Running(call); }
Process& TheProcess() { return one.process; }

}  // namespace bspnow::runtime

using namespace bspnow;           // NOLINT: the definitions below are in C's namespace.
using namespace bspnow::runtime;  // NOLINT

#define BSP_CALL_SITE __builtin_return_address(0)
#define BSP_CALL(name) (Call{name, reinterpret_cast<std::uintptr_t>(BSP_CALL_SITE)})

extern "C" {

void bsp_init(void (*spmdproc)(void), int, char**) { one.process.Init(spmdproc); }
void bsp_begin(int maxprocs) { one.process.Begin(maxprocs); }
void bsp_mc_init(void (*spmdproc)(void), int, char**) { one.process.InitSection(spmdproc); }
void bsp_mc_begin(unsigned maxprocs) {
  one.process.BeginSection(BSP_CALL("bsp_begin"), static_cast<std::int64_t>(maxprocs));
}
void bsp_end(void) {
  Running(BSP_CALL("bsp_end")).End(reinterpret_cast<std::uintptr_t>(BSP_CALL_SITE));
}
void bsp_sync(void) {
  Running(BSP_CALL("bsp_sync")).Sync(reinterpret_cast<std::uintptr_t>(BSP_CALL_SITE));
}

void bsp_vabort(const char* format, va_list args) { AbortWithText(format, args); }
void bsp_abort(const char* format, ...) {
  va_list args;
  va_start(args, format);
  AbortWithText(format, args);
}
void bsp_fail(const char* call, const char* format, ...) {
  va_list args;
  va_start(args, format);
  ReportMisuse(BSP_CALL(call), format, args);
}

double bsp_time(void) {
  if (one.process.begin_ns() == 0) one.process.ReportNotRunning(BSP_CALL("bsp_time"));
  return static_cast<double>(NowNs() - one.process.begin_ns()) * 1e-9;
}
double bsp_dtime(void) {
  if (one.process.begin_ns() == 0) one.process.ReportNotRunning(BSP_CALL("bsp_dtime"));
  const std::uint64_t since = last_dtime_ns;
  last_dtime_ns = NowNs() - one.process.begin_ns();
  return static_cast<double>(last_dtime_ns - since) * 1e-9;
}
double bsp_cputime(void) { return static_cast<double>(one.process.processor_ns()) * 1e-9; }

std::size_t bsp_superstep(int* sections) {
  RequirePointer(BSP_CALL("bsp_superstep"), "sections", sections);
  *sections = static_cast<int>(one.process.sections());
  return one.process.superstep();
}

void bsp_pop_reg(const void* ident) { PopReg(BSP_CALL("bsp_pop_reg"), ident); }
void bsp_popregister(const void* ident) { PopReg(BSP_CALL("bsp_popregister"), ident); }

int bsp_checkpoint_resume(void) {
  Process& process = Running(BSP_CALL("bsp_checkpoint_resume"));
  const std::uint64_t before_ns = process.begin_ns();
  const std::uint64_t superstep = process.ResumeFromCheckpoint();
  last_dtime_ns += before_ns - process.begin_ns();  // What the saved run took is no step of this.
  constexpr std::uint64_t kMax = std::numeric_limits<int>::max();
  return static_cast<int>(superstep < kMax ? superstep : kMax);
}

// The calls of which programs make millions first do what is to be done where nothing is out of the
// ordinary, without a call of a function or a place on the stack: PutMore and its like below,
// GetTag, MovePayload. All checks, and all that is said of them, are in another function for each.

// The calls whose types differ between the dialects: NAME(x) gives the symbol.
#define BSP_DIALECT(NAME, PidType, CountType, SizeType)                                           \
  PidType NAME(nprocs)(void) { return static_cast<PidType>(one.process.nprocs()); }               \
  PidType NAME(pid)(void) {                                                                       \
    if (one.process.begin_ns() == 0) one.process.ReportNotRunning(BSP_CALL("bsp_pid"));           \
    return static_cast<PidType>(one.process.pid());                                               \
  }                                                                                               \
  void NAME(push_reg)(const void* ident, SizeType size) {                                         \
    PushReg(BSP_CALL("bsp_push_reg"), ident, size);                                               \
  }                                                                                               \
  void NAME(pushregister)(const void* ident, SizeType size) {                                     \
    PushReg(BSP_CALL("bsp_pushregister"), ident, size);                                           \
  }                                                                                               \
  void NAME(put)(PidType pid, const void* src, void* dst, SizeType offset, SizeType nbytes) {     \
    if (one.process.PutMore(Next(pid, dst, offset, src, nbytes))) return;                         \
    Move(Arguments<SizeType>{"bsp_put", pid, dst, offset, const_cast<void*>(src), nbytes,         \
                             BSP_CALL_SITE},                                                      \
         Direction::kPut, Buffering::kBuffered);                                                  \
  }                                                                                               \
  void NAME(hpput)(PidType pid, const void* src, void* dst, SizeType offset, SizeType nbytes) {   \
    Move(Arguments<SizeType>{"bsp_hpput", pid, dst, offset, const_cast<void*>(src), nbytes,       \
                             BSP_CALL_SITE},                                                      \
         Direction::kPut, Buffering::kUnbuffered);                                                \
  }                                                                                               \
  void NAME(hput)(PidType pid, const void* src, void* dst, SizeType offset, SizeType nbytes) {    \
    Move(Arguments<SizeType>{"bsp_hput", pid, dst, offset, const_cast<void*>(src), nbytes,        \
                             BSP_CALL_SITE},                                                      \
         Direction::kPut, Buffering::kUnbuffered);                                                \
  }                                                                                               \
  void NAME(get)(PidType pid, const void* src, SizeType offset, void* dst, SizeType nbytes) {     \
    if (one.process.GetMore(Next(pid, src, offset, dst, nbytes))) return;                         \
    Move(Arguments<SizeType>{"bsp_get", pid, src, offset, dst, nbytes, BSP_CALL_SITE},            \
         Direction::kGet, Buffering::kBuffered);                                                  \
  }                                                                                               \
  void NAME(hpget)(PidType pid, const void* src, SizeType offset, void* dst, SizeType nbytes) {   \
    Move(Arguments<SizeType>{"bsp_hpget", pid, src, offset, dst, nbytes, BSP_CALL_SITE},          \
         Direction::kGet, Buffering::kUnbuffered);                                                \
  }                                                                                               \
  void NAME(direct_get)(PidType pid, const void* src, SizeType offset, void* dst,                 \
                        SizeType nbytes) {                                                        \
    DirectGet(                                                                                    \
        Arguments<SizeType>{"bsp_direct_get", pid, src, offset, dst, nbytes, BSP_CALL_SITE});     \
  }                                                                                               \
  void NAME(set_tagsize)(SizeType * tag_nbytes) {                                                 \
    SetTagsize(BSP_CALL("bsp_set_tagsize"), tag_nbytes);                                          \
  }                                                                                               \
  void NAME(set_tag_size)(SizeType * tag_nbytes) {                                                \
    SetTagsize(BSP_CALL("bsp_set_tag_size"), tag_nbytes);                                         \
  }                                                                                               \
  void NAME(send)(PidType pid, const void* tag, const void* payload, SizeType payload_nbytes) {   \
    if (one.process.SendMore(pid, tag, payload, static_cast<std::uint64_t>(payload_nbytes)))      \
      return;                                                                                     \
    Send(BSP_CALL("bsp_send"), pid, tag, payload, payload_nbytes);                                \
  }                                                                                               \
  void NAME(hpsend)(PidType pid, const void* tag, const void* payload, SizeType payload_nbytes) { \
    if (one.process.SendMore(pid, tag, payload, static_cast<std::uint64_t>(payload_nbytes)))      \
      return;                                                                                     \
    Send(BSP_CALL("bsp_hpsend"), pid, tag, payload, payload_nbytes);                              \
  }                                                                                               \
  void NAME(qsize)(CountType * nmessages, SizeType * accum_nbytes) {                              \
    Qsize(BSP_CALL("bsp_qsize"), nmessages, accum_nbytes);                                        \
  }                                                                                               \
  void NAME(get_tag)(SizeType * status, void* tag) {                                              \
    GetTag(BSP_CALL("bsp_get_tag"), status, tag);                                                 \
  }                                                                                               \
  void NAME(move)(void* payload, SizeType reception_nbytes) {                                     \
    MovePayload(BSP_CALL("bsp_move"), payload, reception_nbytes);                                 \
  }                                                                                               \
  SizeType NAME(hpmove)(void** tag_ptr, void** payload_ptr) {                                     \
    return HpMove<SizeType>(BSP_CALL("bsp_hpmove"), tag_ptr, payload_ptr);                        \
  }                                                                                               \
  SizeType NAME(sent_tagsize)(void) {                                                             \
    const Call call = BSP_CALL("bsp_sent_tagsize");                                               \
    return Fitting<SizeType>(call, Running(call).group().tag_bytes());                            \
  }                                                                                               \
  SizeType NAME(queue_tagsize)(void) {                                                            \
    const Call call = BSP_CALL("bsp_queue_tagsize");                                              \
    return Fitting<SizeType>(call, Running(call).inbox().tag_bytes());                            \
  }                                                                                               \
  void NAME(checkpoint_register)(void* data, SizeType nbytes) {                                   \
    RegisterForCheckpoints(BSP_CALL("bsp_checkpoint_register"), data, nbytes);                    \
  }

#define BSP_PAPER_NAME(call) bsp_##call
#define BSP_MULTICORE_NAME(call) bsp_mc_##call

BSP_DIALECT(BSP_PAPER_NAME, int, int, int)
BSP_DIALECT(BSP_MULTICORE_NAME, unsigned, unsigned, std::size_t)

}  // extern "C"
