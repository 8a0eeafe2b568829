#include "runtime/image/proc/image_refusals.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/freestanding/raw_call.h"

// OpenMP 5.0; there if the program is linked with a library of OpenMP that has it.
extern "C" int omp_pause_resource_all(int kind) __attribute__((weak));

namespace bspnow::runtime {
namespace {

constexpr int kPauseHard = 2;
// Threads that were asked to end take a moment.
constexpr std::uint64_t kEndingThreadsNs = 100'000'000;

std::uint64_t CountThreads(char* buffer, std::size_t buffer_bytes) {
  LineReader lines("/proc/self/status", buffer, buffer_bytes);
  TextPiece line;
  while (lines.Next(line)) {
    if (line.Word().Is("Threads")) return TakeNumber(line, 10);
  }
  return 1;
}

// "12 34 ": the first of them and its name.
void NameChild(ImageWork& work) {
  TextPiece line{};
  char number[32] = "";
  {
    LineReader lines("/proc/thread-self/children", work.text_buffer, work.text_buffer_bytes);
    if (!lines.Next(line)) return;
    const TextPiece word = line.Word();
    for (std::size_t i = 0; i < word.bytes && i + 1 < sizeof number; ++i) number[i] = word.data[i];
  }
  Reason path;
  path << "/proc/" << number << "/comm";
  LineReader lines(path.text(), work.text_buffer, work.text_buffer_bytes);
  if (lines.Next(line)) work.reason << ": " << line << ", process " << number;
}

bool HasChildren() {
  siginfo_t info{};
  return RawCall(SYS_waitid, P_ALL, 0, &info,
                 WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT | __WALL, nullptr) == 0;
}

bool HasTimers(ImageWork& work) {
  LineReader lines("/proc/self/timers", work.text_buffer, work.text_buffer_bytes);
  TextPiece line;
  return lines.Next(line);
}

/// Its owner's thread id is another after a restart, and it could never be unlocked. Of the other
/// mutexes that know their owner the kernel has no list.
bool HoldsRobustMutex() {
  const robust_list_head* head = nullptr;
  std::size_t bytes = 0;
  return RawCall(SYS_get_robust_list, 0, &head, &bytes) == 0 && head != nullptr &&
         head->list.next != &head->list;
}

}  // namespace

void EndPooledThreads() {
  char buffer[4096];
  if (omp_pause_resource_all == nullptr || CountThreads(buffer, sizeof buffer) == 1) return;
  omp_pause_resource_all(kPauseHard);
  const std::uint64_t deadline_ns = NowNs() + kEndingThreadsNs;
  while (CountThreads(buffer, sizeof buffer) > 1 && NowNs() < deadline_ns) {
    RawCall(SYS_sched_yield);
  }
}

bool IsAlone(ImageWork& work) {
  const std::uint64_t threads = CountThreads(work.text_buffer, work.text_buffer_bytes);
  if (threads > 1) {
    work.reason << "the process has " << threads - 1 << " other thread";
    work.reason << (threads > 2 ? "s" : "");
    return false;
  }
  if (HasChildren()) {
    work.reason << "the process has a child that was not waited for";
    NameChild(work);
    return false;
  }
  if (HasTimers(work)) {
    work.reason << "the process has a POSIX timer (timer_create)";
    return false;
  }
  if (HoldsRobustMutex()) {
    work.reason << "the process holds a robust mutex (pthread_mutexattr_setrobust)";
    return false;
  }
  return true;
}

}  // namespace bspnow::runtime
