#include "runtime/link/report.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

#include "base/check.h"
#include "base/exit_status.h"
#include "base/mapped_region.h"
#include "runtime/link/call_site.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kTextBytesMax = 8192;

constinit Speaker speaker;  // tidy: of bsp_api.cc's one process; reports may come from anywhere

constinit Bounds bounds;  // tidy: as the speaker

constinit SiteNamer site_namer = nullptr;  // tidy: as the speaker

struct Text {
  char bytes[kTextBytesMax];
  std::size_t used = 0;

  void Add(const char* format, std::va_list args) {
    const std::size_t room = sizeof(bytes) - 1 - used;  // One byte stays free for the newline.
    const int wanted = vsnprintf(bytes + used, room, format, args);
    if (wanted < 0) return;
    used += static_cast<std::size_t>(wanted) < room ? static_cast<std::size_t>(wanted) : room - 1;
  }

  __attribute__((format(printf, 2, 3))) void Add(const char* format, ...) {
    std::va_list args;
    va_start(args, format);
    Add(format, args);
    va_end(args);
  }
};

// Nothing else of the process runs after the message: no destructors, no atexit handlers. What the
// program has printed so far comes out first.
// `text` has room for a newline after its `bytes` bytes.
[[noreturn]] void SayAndLeave(char* text, std::size_t bytes) {
  if (bytes == 0 || text[bytes - 1] != '\n') text[bytes++] = '\n';
  fflush(stdout);
  fflush(stderr);
  std::size_t at = 0;
  while (at < bytes) {
    const ssize_t n = write(STDERR_FILENO, text + at, bytes - at);
    if (n < 0 && errno != EINTR) break;
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  if (speaker.segment != nullptr && !IsForkedChild()) {
    ProcessCell& cell = speaker.segment->cell(Pid{speaker.pid});
    cell.state.store(ProcessState::kAborted, std::memory_order_seq_cst);
  }
  _exit(kAbortStatus);
}

void NameSite(std::uint64_t call_site, char (&site)[kCallSiteTextBytes]) {
  if (site_namer != nullptr) {
    site_namer(site, sizeof site);
  } else {
    DescribeCallSite(static_cast<std::uint32_t>(getpid()), call_site, site);
  }
}

// A misuse is often found by all processes at once; the worker kills the others.
void LetOnlyTheFirstSpeak() {
  if (speaker.segment == nullptr || IsForkedChild()) return;
  if (speaker.segment->header().reporting.exchange(1) == 0) return;
  AwaitTheEnd();
}

}  // namespace

void AwaitTheEnd() {
  for (;;) pause();
}

void NameBounds(const Bounds& next) { bounds = next; }
const Bounds& ProgramBounds() { return bounds; }

void NameSitesBy(SiteNamer namer) { site_namer = namer; }

void SetSpeaker(const Speaker& next) { speaker = next; }

bool IsForkedChild() { return speaker.segment != nullptr && getpid() != speaker.os_pid; }

void ReportMisuse(Call call, const char* format, ...) {
  std::va_list args;
  va_start(args, format);
  ReportMisuse(call, format, args);
}

void ReportMisuse(Call call, const char* format, std::va_list args) {
  // Before anybody else is kept from speaking: a binding may have to wait for its interpreter, and
  // another thread, which has that, may be found to be wrong as well.
  char site[kCallSiteTextBytes] = "";
  if (call.site != 0) NameSite(call.site, site);
  LetOnlyTheFirstSpeak();
  Text text;
  if (speaker.segment == nullptr) {
    text.Add("bspnow: %s before %s: ", call.name, bounds.begin);
  } else if (IsForkedChild()) {
    text.Add("bspnow: %s in a child that pid %u made by fork, which is no BSP process: ", call.name,
             speaker.pid);
  } else {
    const ProcessState state = speaker.segment->cell(Pid{speaker.pid}).state.load();
    if (state < ProcessState::kRunning) {
      text.Add("bspnow: %s on pid %u before %s: ", call.name, speaker.pid, bounds.begin);
    } else if (state >= ProcessState::kEnded) {
      text.Add("bspnow: %s on pid %u after %s: ", call.name, speaker.pid, bounds.end);
    } else {
      const std::uint64_t first = speaker.segment->header().first_superstep;
      text.Add("bspnow: %s on pid %u, superstep %llu: ", call.name, speaker.pid,
               static_cast<unsigned long long>(first + *speaker.superstep));
    }
  }
  text.Add(format, args);
  if (site[0] != '\0') text.Add(", at %s", site);
  SayAndLeave(text.bytes, text.used);
}

void ReportFailure(const char* format, ...) {
  LetOnlyTheFirstSpeak();
  Text text;
  text.Add("bspnow: ");
  std::va_list args;
  va_start(args, format);
  text.Add(format, args);
  va_end(args);
  SayAndLeave(text.bytes, text.used);
}

// The user's text is his own, however long it is.
void AbortWithText(const char* format, std::va_list args) {
  std::va_list again;
  va_copy(again, args);
  const int length = vsnprintf(nullptr, 0, format, args);
  const std::size_t bytes = length < 0 ? 0 : static_cast<std::size_t>(length);
  MappedRegion text = MappedRegion::Private(bytes + 2);
  if (!text.valid()) OutOfMemory(bytes);
  auto* at = reinterpret_cast<char*>(text.data());
  vsnprintf(at, bytes + 1, format, again);
  SayAndLeave(at, bytes);
}

}  // namespace bspnow::runtime
