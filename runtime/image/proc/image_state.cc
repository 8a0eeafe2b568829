#include "runtime/image/proc/image_state.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <iterator>

#include "base/clock.h"
#include "base/freestanding/raw_call.h"

// Of glibc from 2.35 on: where it registered its area for restartable sequences.
extern "C" {
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
}

namespace bspnow::runtime {
namespace {

constexpr std::uint32_t kRseqBytes = 32;  // As glibc registers it, whatever it uses of it.
constexpr std::uint32_t kRseqSignature = 0x53053053;
constexpr int kGetPermittedFeatures = 0x1022;  // ARCH_GET_XCOMP_PERM
constexpr std::uint64_t kTileData = std::uint64_t{1} << 18;
constexpr std::size_t kSignalSetBytes = 8;

static_assert(RLIM_NLIMITS == kLimitsMax && sizeof(ImageLimit) == sizeof(rlimit));

void RecordThread(ImageState& state) {
  RawCall(SYS_arch_prctl, ARCH_GET_FS, &state.fs_base);
  RawCall(SYS_arch_prctl, ARCH_GET_GS, &state.gs_base);
  RawCall(SYS_prctl, PR_GET_TID_ADDRESS, &state.tid_address, 0, 0, 0);
  RawCall(SYS_get_robust_list, 0, &state.robust_list, &state.robust_list_bytes);
  state.os_pid = static_cast<std::uint32_t>(RawCall(SYS_getpid));
  if (&__rseq_offset != nullptr && &__rseq_size != nullptr && __rseq_size != 0) {
    state.rseq = state.fs_base + static_cast<std::uint64_t>(__rseq_offset);
    state.rseq_bytes = kRseqBytes;
    state.rseq_signature = kRseqSignature;
  }
}

void RecordSignals(ImageState& state) {
  for (std::size_t i = 0; i < kSignalsMax; ++i) {
    RawCall(SYS_rt_sigaction, i + 1, nullptr, &state.signals[i], kSignalSetBytes);
  }
  stack_t stack{};
  RawCall(SYS_sigaltstack, nullptr, &stack);
  state.alternate_stack = reinterpret_cast<std::uint64_t>(stack.ss_sp);
  state.alternate_stack_bytes = stack.ss_size;
  state.alternate_stack_flags = static_cast<std::uint32_t>(stack.ss_flags);
}

void RecordTimers(ImageState& state) {
  struct Timer {
    int clock;
    int signal;
  };
  constexpr Timer kTimers[] = {
      {ITIMER_REAL, SIGALRM}, {ITIMER_VIRTUAL, SIGVTALRM}, {ITIMER_PROF, SIGPROF}};
  for (const auto [clock, signal] : kTimers) {
    itimerval timer{};
    RawCall(SYS_getitimer, clock, &timer);
    const auto us = [](const timeval& t) {
      return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000u +
             static_cast<std::uint64_t>(t.tv_usec);
    };
    std::uint64_t pending = 0;
    RawCall(SYS_rt_sigpending, &pending, kSignalSetBytes);
    state.intervals[clock] = {.value_us = us(timer.it_value), .interval_us = us(timer.it_interval)};
    // It has expired, and its signal waits: there it is to expire at once.
    const bool expired = (pending >> (signal - 1) & 1) != 0;
    if (expired && state.intervals[clock].value_us == 0) state.intervals[clock].value_us = 1;
  }
}

// Fields as man proc_pid_stat counts them, from 1; the second, the name, may hold anything.
void RecordMemory(ImageWork& work) {
  ImageState& state = work.state;
  struct Field {
    unsigned number;
    std::uint64_t* value;
  };
  const Field fields[] = {
      {26, &state.start_code}, {27, &state.end_code}, {28, &state.start_stack},
      {45, &state.start_data}, {46, &state.end_data}, {47, &state.start_brk},
      {48, &state.arg_start},  {49, &state.arg_end},  {50, &state.env_start},
      {51, &state.env_end},
  };
  state.brk = static_cast<std::uint64_t>(RawCall(SYS_brk, 0));
  LineReader lines("/proc/self/stat", work.text_buffer, work.text_buffer_bytes);
  TextPiece line{};
  if (!lines.Next(line)) return;
  std::size_t name_end = line.bytes;
  while (name_end > 0 && line.data[name_end - 1] != ')') --name_end;
  line = {line.data + name_end, line.bytes - name_end};
  line.Word();
  for (unsigned number = 3; line.bytes > 0; ++number) {
    TextPiece word = line.Word();
    for (const Field& field : fields) {
      if (field.number == number) *field.value = TakeNumber(word, 10);
    }
  }
}

void RecordAuxiliaryVector(ImageWork& work) {
  char bytes[4096];
  const RawFile file("/proc/self/auxv");
  const long count = RawCall(SYS_read, file.number(), bytes, sizeof bytes);
  if (count <= 0) return;
  work.state.auxv_offset = work.AddString({bytes, static_cast<std::size_t>(count)});
  work.state.auxv_bytes = static_cast<std::uint64_t>(count);
}

void RecordProcessor(ImageWork& work) {
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0) {
    unsigned low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    work.state.xcr0 = (std::uint64_t{high} << 32) | low;
  }
  std::uint64_t permitted = 0;
  RawCall(SYS_arch_prctl, kGetPermittedFeatures, &permitted);
  work.state.uses_amx = (permitted & kTileData) != 0;
  LineReader lines("/proc/cpuinfo", work.text_buffer, work.text_buffer_bytes);
  TextPiece line;
  while (lines.Next(line)) {
    if (!line.Word().Is("flags")) continue;
    work.state.cpu_features = work.AddString(line);
    return;
  }
}

// What its host has, too, is not the program's choice: elsewhere it has what that host has.
void RecordScheduling(ImageState& state) {
  const long host = RawCall(SYS_getppid);
  const long priority = RawCall(SYS_getpriority, PRIO_PROCESS, 0);
  if (priority > 0 && priority != RawCall(SYS_getpriority, PRIO_PROCESS, host)) {
    state.priority = static_cast<std::uint32_t>(priority);
  }
  std::uint64_t of_host[kProcessorsMax / 64] = {};
  RawCall(SYS_sched_getaffinity, 0, sizeof state.processors, state.processors);
  const long bytes = RawCall(SYS_sched_getaffinity, host, sizeof of_host, of_host);
  bool differ = false;
  for (std::size_t i = 0; i < std::size(of_host); ++i) differ |= of_host[i] != state.processors[i];
  if (bytes > 0 && differ) return;
  for (std::uint64_t& processors : state.processors) processors = 0;
}

bool RecordDirectory(ImageWork& work) {
  char path[4096];
  const long bytes = RawCall(SYS_getcwd, path, sizeof path);  // With the 0 at its end.
  if (bytes <= 1 || *path != '/') {
    work.reason << "the process's working directory was deleted, or lies outside its root";
    return false;
  }
  work.state.directory = work.AddString({path, static_cast<std::size_t>(bytes) - 1});
  return true;
}

}  // namespace

bool RecordState(ImageWork& work, std::uint64_t signal_mask) {
  ImageState& state = work.state;
  state.signal_mask = signal_mask;
  state.link = static_cast<std::uint32_t>(work.request.link);
  state.monotonic_ns = NowNs();
  RecordThread(state);
  RecordSignals(state);
  RecordTimers(state);
  RecordMemory(work);
  RecordAuxiliaryVector(work);
  RecordProcessor(work);
  state.umask = static_cast<std::uint32_t>(RawCall(SYS_umask, 0));
  RawCall(SYS_umask, state.umask);
  for (std::size_t i = 0; i < kLimitsMax; ++i) {
    RawCall(SYS_prlimit64, 0, i, nullptr, &state.limits[i]);
  }
  state.no_new_privileges =
      static_cast<std::uint32_t>(RawCall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  RecordScheduling(state);
  RawCall(SYS_prctl, PR_GET_NAME, state.name, 0, 0, 0);
  return RecordDirectory(work);
}

}  // namespace bspnow::runtime
