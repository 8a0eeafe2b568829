#include "runtime/image/file/image_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "base/freestanding/raw_call.h"
#include "runtime/image/file/image_hash.h"
#include "runtime/image/file/image_runs.h"
#include "runtime/image/file/image_snapshot.h"
#include "runtime/image/file/image_stream.h"
#include "runtime/image/proc/changed_pages.h"
#include "runtime/image/proc/image_maps.h"

namespace bspnow::runtime {
namespace {

void Send(const ImageRequest& request, const LinkImageReport& report) {
  while (RawCall(SYS_sendto, request.link, &report, sizeof report, MSG_NOSIGNAL, nullptr, 0) ==
         -EINTR) {
    continue;
  }
}

LinkImageReport EmptyReport(const ImageRequest& request) {
  LinkImageReport report{};
  report.magic = kLinkMagic;
  report.version = kLinkVersion;
  report.kind = LinkImageReport::kKind;
  report.checkpoint = request.checkpoint;
  return report;
}

Reason FileName(const ImageRequest& request) {
  Reason name;
  name << "c" << request.checkpoint << ".p" << request.pid << ".new";
  return name;
}

/// Gives the tables their places, one after the other.
class Layout {
 public:
  template <typename T>
  ImageTable Place(const FixedList<T>& list) {
    const ImageTable table{.offset = next_, .count = list.size()};
    next_ += (list.size() * sizeof(T) + 7) / 8 * 8;
    return table;
  }
  ImageTable PlaceStates(std::uint64_t count) {
    const ImageTable table{.offset = next_, .count = count};
    next_ += count * sizeof(ImageState);
    return table;
  }
  ImageTable PlaceData(std::uint64_t bytes) {
    next_ = (next_ + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
    const ImageTable table{.offset = next_, .count = bytes};
    next_ += bytes;
    return table;
  }
  ImageTable PlaceChunks() {
    const std::uint64_t summed = next_ - kImagePageBytes;
    const ImageTable table{.offset = next_,
                           .count = (summed + kImageChunkBytes - 1) / kImageChunkBytes};
    next_ += table.count * sizeof(ImageChunk);
    return table;
  }
  std::uint64_t end() const { return next_; }

 private:
  std::uint64_t next_ = kImagePageBytes;
};
static_assert(sizeof(ImageState) % 8 == 0);

void FillHeader(ImageWork& work, std::uint64_t data_bytes) {
  ImageHeader& header = work.header;
  const ImageRequest& request = work.request;
  header.magic = kImageMagic;
  header.version = kImageVersion;
  header.complete = kImageComplete;
  header.job = request.job;
  header.checkpoint = request.checkpoint;
  header.superstep = request.superstep;
  header.pid = request.pid;
  header.nprocs = request.nprocs;
  header.elapsed_ns = request.elapsed_ns;
  header.processor_ns = request.processor_ns;
  Layout layout;
  header.regions = layout.Place(work.regions);
  header.texts = layout.Place(work.texts);
  header.files = layout.Place(work.files);
  const bool of_process = header.kind == static_cast<std::uint32_t>(ImageKind::kProcess);
  header.state = layout.PlaceStates(of_process ? 1 : 0);
  header.areas = layout.Place(work.areas);
  header.runs = layout.Place(work.runs);
  header.strings = layout.Place(work.strings);
  header.data = layout.PlaceData(data_bytes);
  header.chunks = layout.PlaceChunks();
  header.file_bytes = layout.end();
  for (ImageRun& run : work.runs) {
    if (run.kind == ImageRun::kData) run.offset += header.data.offset;
  }
  header.header_hash = 0;
  header.header_hash = ImageHash(&header, sizeof header);
}

template <typename T>
void AppendTable(const FixedList<T>& list, ImageStream& stream) {
  static constexpr char kZeroes[8] = {};
  stream.Append(list.begin(), list.size() * sizeof(T));
  stream.Append(kZeroes, (8 - stream.position() % 8) % 8);
}

void AppendAll(ImageWork& work, ImageStream& stream) {
  AppendTable(work.regions, stream);
  AppendTable(work.texts, stream);
  AppendTable(work.files, stream);
  if (work.header.state.count > 0) stream.Append(&work.state, sizeof work.state);
  AppendTable(work.areas, stream);
  AppendTable(work.runs, stream);
  AppendTable(work.strings, stream);
  stream.PadToPage();
  for (const ImageRun& run : work.runs) {
    if (run.kind == ImageRun::kData) {
      stream.Append(reinterpret_cast<const void*>(run.start), run.bytes);
    }
  }
  for (std::size_t i = 0; i < work.areas.size(); ++i) {
    stream.Append(work.saved_areas[i].data, work.saved_areas[i].bytes);
    stream.PadToPage();
  }
  stream.Finish(work.header);
}

std::uint64_t AreaBytes(const ImageWork& work) {
  std::uint64_t bytes = 0;
  for (const ImageArea& area : work.areas) {
    bytes += (area.bytes + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
  }
  return bytes;
}

/// 0, or the number of an error.
long WriteFile(ImageWork& work) {
  const Reason name = FileName(work.request);
  RawCall(SYS_unlinkat, work.request.directory, name.text(), 0);
  const long file = RawCall(SYS_openat, work.request.directory, name.text(),
                            O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kImageMode);
  if (file < 0) return -file;
  RawCall(SYS_fchmod, file, kImageMode);
  long error;
  {
    ImageStream stream(static_cast<int>(file), work.header.file_bytes, work);
    AppendAll(work, stream);
    error = stream.error();
  }
  RawCall(SYS_close, file);
  if (error != 0) RawCall(SYS_unlinkat, work.request.directory, name.text(), 0);
  return error;
}

/// Looks up the details that the process left to its writer. Returns false if something cannot be
/// saved, and then work.reason describes it.
bool FindMemory(ImageWork& work) {
  return ReadMappingDetails(work) && (work.tracker >= 0 || FindPages(work, PagesWanted::kAll));
}

/// False: the reason is in work.reason.
bool WriteFiles(ImageWork& work) {
  MakeRegions(work);
  const std::uint64_t data_bytes = MakeRuns(work) + AreaBytes(work);
  FillHeader(work, data_bytes);
  work.chunks.Truncate(0);
  if (work.Overflown() || work.header.chunks.count > work.chunks.capacity()) {
    work.reason << "its memory is in too many pieces";
    return false;
  }
  if (const long error = WriteTexts(work); error != 0) {
    work.reason << "writing the program's text for the image: " << CallError{-error};
    return false;
  }
  if (const long error = WriteFile(work); error != 0) {
    work.reason << "writing " << FileName(work.request).text() << ": " << CallError{-error};
    return false;
  }
  return true;
}

/// The child keeps the descriptors to which it writes, and closes those whose end others await.
void CloseOthers(const ImageRequest& request) {
  const auto low = static_cast<unsigned>(std::min(request.link, request.directory));
  const auto high = static_cast<unsigned>(std::max(request.link, request.directory));
  if (low > 0) RawCall(SYS_close_range, 0u, low - 1, 0u);
  if (high > low + 1) RawCall(SYS_close_range, low + 1, high - 1, 0u);
  RawCall(SYS_close_range, high + 1, ~0u, 0u);
}

// Runs in the child that was cloned for it, or in the process itself while that stands still.
void WriteImage(void* argument) {
  ImageWork& work = *static_cast<ImageWork*>(argument);
  const std::uint64_t start_ns = NowNs();
  const std::uint64_t start_cpu_ns = ProcessorNs();
  bool written = work.mappings.size() == 0 || FindMemory(work);
  OpenUnreadable(work);
  written = written && WriteFiles(work);
  CloseUnreadable(work);
  if (!written) return ReportRefusal(work.request, work.reason);
  LinkImageReport report = EmptyReport(work.request);
  report.written = 1;
  report.file_bytes = work.header.file_bytes;
  report.cpu_ns = ProcessorNs() - start_cpu_ns;
  report.write_ns = NowNs() - start_ns;
  Send(work.request, report);
}

/// What the process changes meanwhile is in memory twice. Where there is no room for that this
/// child goes, and an image with it: of the two the process is larger, by its messages, and would.
void PreferForOutOfMemory() {
  constexpr char kHighest[] = "1000";  // See proc(5).
  const long score =
      RawCall(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);
  if (score < 0) return;
  RawCall(SYS_write, score, kHighest, sizeof kHighest - 1);
  RawCall(SYS_close, score);
}

void WriteImageAndExit(void* argument) {
  ImageWork& work = *static_cast<ImageWork*>(argument);
  RawCall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (RawCall(SYS_getppid) == work.writer_parent) {
    PreferForOutOfMemory();
    CloseOthers(work.request);
    WriteImage(argument);
  }
  RawCall(SYS_exit_group, 0);
  __builtin_unreachable();
}

/// Besides an error a file that is larger than it may be (RLIMIT_FSIZE) sends a signal, which would
/// end the program once signals are unblocked. A writer that is a child takes its own along.
class TooLargeFiles {
 public:
  TooLargeFiles() {
    std::uint64_t pending = 0;
    RawCall(SYS_rt_sigpending, &pending, sizeof pending);
    is_programs_ = (pending & kSignal) != 0;
  }
  TooLargeFiles(const TooLargeFiles&) = delete;
  TooLargeFiles& operator=(const TooLargeFiles&) = delete;
  ~TooLargeFiles() {
    constexpr timespec kNow{};
    const std::uint64_t awaited = kSignal;
    if (!is_programs_) RawCall(SYS_rt_sigtimedwait, &awaited, nullptr, &kNow, sizeof awaited);
  }

 private:
  static constexpr std::uint64_t kSignal = std::uint64_t{1} << (SIGXFSZ - 1);
  bool is_programs_;
};

}  // namespace

void ReportRefusal(const ImageRequest& request, const Reason& reason) {
  LinkImageReport report = EmptyReport(request);
  static_assert(Reason::kBytesMax == sizeof report.reason);
  std::copy(reason.text(), reason.text() + reason.size(), report.reason);
  Send(request, report);
}

int SnapshotAndWrite(ImageWork& work) {
  ImageRegisters* const registers = &work.state.registers;
  work.writer_parent = static_cast<int>(RawCall(SYS_getpid));
  const long child = SnapshotInChild(registers, work.stack_top, WriteImageAndExit, &work);
  if (child > 0) return static_cast<int>(child);
  const TooLargeFiles too_large;
  SnapshotInPlace(registers, work.stack_top, WriteImage, &work);
  return 0;
}

}  // namespace bspnow::runtime
