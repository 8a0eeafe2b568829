#include "worker/restore/process_state.h"

#include <asm/prctl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "base/freestanding/raw_call.h"
#include "worker/restore/failure.h"

// restore_entry.S
extern "C" [[noreturn, gnu::visibility("hidden")]] void EnterProcess(
    const bspnow::ImageRegisters* registers);

namespace bspnow::worker::restore {
namespace {

constexpr std::uint64_t kSignalSetBytes = 8;
constexpr int kRequestComponent = 0x1023;  // ARCH_REQ_XCOMP_PERM, not in Debian 12's headers.
constexpr int kTileData = 18;
constexpr std::uint64_t kSecond_us = 1000000;

static_assert(offsetof(ImageRegisters, rsp) == 48 && offsetof(ImageRegisters, rip) == 56 &&
                  offsetof(ImageRegisters, mxcsr) == 64 &&
                  offsetof(ImageRegisters, x87_control) == 68,
              "restore_entry.S");

/// Of the kernel's rseq area, what must be set before it is registered.
struct RseqArea {
  std::uint32_t cpu_id_start;
  std::int32_t cpu_id;
  std::uint64_t critical_section;
};

template <class T>
T* At(std::uint64_t address) {
  return reinterpret_cast<T*>(address);
}

// Below the hard limit that is allowed here.
void SetLimit(const ImageState& state, std::size_t resource) {
  ImageLimit wanted = state.limits[resource];
  if (RawCall(SYS_prlimit64, 0, resource, &wanted, 0) == 0) return;
  ImageLimit present;
  RawCall(SYS_prlimit64, 0, resource, 0, &present);
  if (wanted.hard > present.hard) wanted.hard = present.hard;
  if (wanted.soft > wanted.hard) wanted.soft = wanted.hard;
  RawCall(SYS_prlimit64, 0, resource, &wanted, 0);
}

void SetSignals(const ImageState& state) {
  for (std::size_t i = 0; i < kSignalsMax; ++i) {
    const auto number = static_cast<int>(i + 1);
    if (number == SIGKILL || number == SIGSTOP) continue;
    const ImageSignal& saved = state.signals[i];
    // The kernel's own order of the fields.
    const std::uint64_t action[4] = {saved.handler, saved.flags, saved.restorer, saved.mask};
    const long result = RawCall(SYS_rt_sigaction, number, action, 0, kSignalSetBytes);
    if (result != 0) {
      Fail("setting the handler of signal ", static_cast<std::uint64_t>(number), ": ",
           CallError{result});
    }
  }
  const stack_t stack{.ss_sp = At<void>(state.alternate_stack),
                      .ss_flags = static_cast<int>(state.alternate_stack_flags),
                      .ss_size = state.alternate_stack_bytes};
  const long result = RawCall(SYS_sigaltstack, &stack, 0);
  if (result != 0) Fail("setting the alternate signal stack: ", CallError{result});
}

void SetThreadId(const ImageState& state) {
  const long id = RawCall(SYS_set_tid_address, state.tid_address);
  if (state.tid_address == 0) return;
  auto* const stored = At<std::uint32_t>(state.tid_address);
  if (*stored == state.os_pid) *stored = static_cast<std::uint32_t>(id);
}

// glibc falls back on system calls when the area notes that registration failed.
void SetRseq(const ImageState& state) {
  if (state.rseq == 0) return;
  auto* const area = At<RseqArea>(state.rseq);
  area->cpu_id_start = 0;
  area->cpu_id = -1;  // RSEQ_CPU_ID_UNINITIALIZED
  area->critical_section = 0;
  const long result = RawCall(SYS_rseq, area, state.rseq_bytes, 0, state.rseq_signature);
  if (result != 0) area->cpu_id = -2;  // RSEQ_CPU_ID_REGISTRATION_FAILED
}

// A timer that repeats but is not running has expired, and its signal was waiting to be taken, as
// signals are while an image is taken: it comes now, and starts the timer again.
void SetTimers(const ImageState& state) {
  for (int i = 0; i < 3; ++i) {
    ImageInterval saved = state.intervals[i];
    if (saved.value_us == 0 && saved.interval_us == 0) continue;
    if (saved.value_us == 0) saved.value_us = 1;
    const std::uint64_t timer[4] = {saved.interval_us / kSecond_us, saved.interval_us % kSecond_us,
                                    saved.value_us / kSecond_us, saved.value_us % kSecond_us};
    const long result = RawCall(SYS_setitimer, i, timer, 0);
    if (result != 0) Fail("setting an interval timer: ", CallError{result});
  }
}

}  // namespace

void BlockSignals() {
  const std::uint64_t all = ~std::uint64_t{0};
  RawCall(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, kSignalSetBytes);
}

void SetStackLimit(const ImageState& state) { SetLimit(state, RLIMIT_STACK); }

void SetLimits(const ImageState& state) {
  for (std::size_t i = 0; i < kLimitsMax; ++i) SetLimit(state, i);
  if (state.priority != 0) {
    RawCall(SYS_setpriority, PRIO_PROCESS, 0, 20 - static_cast<long>(state.priority));
  }
  bool chosen = false;
  for (const std::uint64_t processors : state.processors) chosen |= processors != 0;
  if (chosen) RawCall(SYS_sched_setaffinity, 0, sizeof state.processors, state.processors);
  if (state.no_new_privileges == 1) RawCall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void SetMemoryMap(const Image& newest) {
  const ImageState& state = newest.state();
  const char* auxv = newest.String(state.auxv_offset);
  prctl_mm_map map{.start_code = state.start_code,
                   .end_code = state.end_code,
                   .start_data = state.start_data,
                   .end_data = state.end_data,
                   .start_brk = state.start_brk,
                   .brk = state.brk,
                   .start_stack = state.start_stack,
                   .arg_start = state.arg_start,
                   .arg_end = state.arg_end,
                   .env_start = state.env_start,
                   .env_end = state.env_end,
                   .auxv = reinterpret_cast<__u64*>(const_cast<char*>(auxv)),
                   .auxv_size = static_cast<__u32>(state.auxv_bytes),
                   .exe_fd = ~__u32{0}};
  long result = RawCall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
  if (result != 0) {
    map.auxv_size = 0;  // A kernel that keeps a shorter vector; only /proc shows it.
    result = RawCall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
  }
  if (result != 0) {
    Fail("telling the kernel where the heap is (PR_SET_MM_MAP): ", CallError{result});
  }
}

void SetThread(const ImageState& state) {
  SetSignals(state);
  SetThreadId(state);
  if (state.robust_list != 0) {
    RawCall(SYS_set_robust_list, state.robust_list, state.robust_list_bytes);
  }
  SetRseq(state);
  RawCall(SYS_prctl, PR_SET_NAME, state.name, 0, 0, 0);
  if (state.uses_amx != 0) {
    const long result = RawCall(SYS_arch_prctl, kRequestComponent, kTileData);
    if (result != 0) Fail("asking for the AMX registers: ", CallError{result});
  }
}

void Resume(const ImageState& state) {
  RawCall(SYS_arch_prctl, ARCH_SET_GS, state.gs_base);
  RawCall(SYS_arch_prctl, ARCH_SET_FS, state.fs_base);
  SetTimers(state);
  RawCall(SYS_rt_sigprocmask, SIG_SETMASK, &state.signal_mask, 0, kSignalSetBytes);
  EnterProcess(&state.registers);
}

}  // namespace bspnow::worker::restore
