#include "runtime/image/process_image.h"

#include <errno.h>
#include <sys/wait.h>

#include "base/freestanding/raw_call.h"
#include "runtime/image/file/image_snapshot.h"
#include "runtime/image/file/image_writer.h"
#include "runtime/image/image_work.h"
#include "runtime/image/proc/blocked_signals.h"
#include "runtime/image/proc/changed_pages.h"
#include "runtime/image/proc/image_descriptors.h"
#include "runtime/image/proc/image_maps.h"
#include "runtime/image/proc/image_refusals.h"
#include "runtime/image/proc/image_state.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kStackDirtyBytes = 1024;

/// What bsp-restore leaves on the stack of the process that it has put together.
struct RestoredWords {
  std::uint32_t restored;
  std::uint64_t restorer_start;
  std::uint64_t restorer_bytes;
};

// Between the search for changed pages and the snapshot the stack of the program goes on changing,
// by what SnapshotAndWrite needs; so its pages here count as changed, whatever the search finds,
// and belong to it when its bounds are read. It may be small: the rest happens on another.
__attribute__((noinline)) void DirtyStack() {
  [[maybe_unused]] volatile char bytes[kStackDirtyBytes];
  bytes[0] = 0;
  bytes[kStackDirtyBytes - 1] = 0;
}

}  // namespace

struct ProcessImage::Preparation {
  ProcessImage& image;
  ImageWork& work;
  std::uint64_t signal_mask;
  bool ready;

  static void Run(void* argument) {
    auto& self = *static_cast<Preparation*>(argument);
    self.ready = self.image.Prepare(self.work, self.signal_mask);
  }
};

bool ProcessImage::Prepare(ImageWork& work, std::uint64_t signal_mask) {
  if (!IsAlone(work)) return false;
  if (!IsTracker(tracker_)) {
    tracker_ = OpenTracker();
    last_ = 0;
  }
  if (!ReadDescriptors(work, tracker_) || !ReadMappings(work)) return false;
  if (!RecordState(work, signal_mask)) return false;
  const std::uint64_t base = work.request.base == last_ ? last_ : 0;
  last_ = 0;
  work.header.kind = static_cast<std::uint32_t>(ImageKind::kProcess);
  work.header.base = base;
  work.tracker = tracker_;
  if (tracker_ >= 0) {  // Else the writer finds them.
    const PagesWanted wanted = base == 0 ? PagesWanted::kAll : PagesWanted::kChanged;
    if (!FindPages(work, wanted)) return false;
  }
  if (work.Overflown()) {
    work.reason << "its memory is in too many pieces";
    return false;
  }
  return true;
}

void ProcessImage::AwaitWriter() {
  while (writer_ > 0 && RawCall(SYS_wait4, writer_, nullptr, __WALL, nullptr) == -EINTR) continue;
  writer_ = 0;
}

ImageOutcome ProcessImage::Save(const ImageRequest& request) {
  EndPooledThreads();
  AwaitWriter();
  ImageWork* const work = ImageWork::Map(request);
  if (work == nullptr) {
    Reason reason;
    reason << "no address space for the tables of the image";
    ReportRefusal(request, reason);
    return ImageOutcome::kRefused;
  }
  const BlockedSignals signals;
  volatile RestoredWords words{};
  work->state.restored_address = reinterpret_cast<std::uint64_t>(&words.restored);
  work->state.restorer_address = reinterpret_cast<std::uint64_t>(&words.restorer_start);
  Preparation preparation{
      .image = *this, .work = *work, .signal_mask = signals.before(), .ready = false};
  DirtyStack();
  CallOnStack(work->stack_top, Preparation::Run, &preparation);
  const bool ready = preparation.ready;
  if (ready) {
    const int writer = SnapshotAndWrite(*work);
    if (words.restored != 0) {  // `work` is gone, and all that this object knows.
      RawCall(SYS_munmap, words.restorer_start, words.restorer_bytes);
      *this = ProcessImage();
      return ImageOutcome::kRestored;
    }
    writer_ = writer;
    if (tracker_ >= 0) last_ = request.checkpoint;
  } else {
    ReportRefusal(request, work->reason);
  }
  work->Unmap();
  return ready ? ImageOutcome::kStarted : ImageOutcome::kRefused;
}

}  // namespace bspnow::runtime
