#include "worker/node_segment.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bspnow {

absl::StatusOr<NodeSegment> NodeSegment::Create(const SegmentPlan& plan) {
  const SegmentLayout layout = LayOutSegment(plan);
  const std::uint64_t bytes = SegmentBytes(layout);
  UniqueFd memory(memfd_create("bspnow", MFD_CLOEXEC));
  if (!memory.valid() || ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) {
    const char* fix = errno == EFBIG ? "; raise the limit on file sizes (ulimit -f unlimited)" : "";
    return absl::InternalError(
        absl::StrCat("creating the memory segment of the job: ", strerror(errno), fix));
  }
  MappedRegion region = MappedRegion::Shared(memory.get(), bytes);
  if (!region.valid()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "mapping ", bytes >> 30, " GiB of address space for communication: ", strerror(errno),
        "; no memory is reserved by that: raise the limit (ulimit -v unlimited), or set"
        " BSP_ADDRESS_SPACE, as in 16G"));
  }
  madvise(region.data(), region.bytes(), MADV_DONTDUMP);  // A core file would fill all the holes.
  // The rest of the segment is zero, which is the first state of everything in it.
  NodeHeader& header = *reinterpret_cast<NodeHeader*>(region.data());
  header.magic = kLinkMagic;
  header.version = kLinkVersion;
  header.job = Value(plan.job);
  header.epoch = Value(plan.epoch);
  header.layout = layout;
  return NodeSegment(std::move(memory), Segment(std::move(region), layout));
}

Superstep NodeSegment::superstep(Pid pid) const {
  const std::uint32_t started = segment_.cell(pid).started.value.load();
  return Superstep{started == 0 ? 0 : started - 1u};
}

JobMeasurements NodeSegment::Measure() {
  const JobTotals& totals = segment_.header().totals;
  JobMeasurements result{};
  const std::uint32_t p = segment_.header().participants.value.load();
  if (p == 0 || p > segment_.layout().nprocs) return result;
  std::uint64_t recorded = segment_.cell(Pid{0}).recorded.load();
  for (std::uint32_t i = 1; i < p; ++i) {
    recorded = std::min(recorded, segment_.cell(Pid{i}).recorded.load());
  }
  const std::uint64_t folded = totals.supersteps;
  if (recorded > folded && recorded - folded <= kRingSupersteps) {
    FoldMeasurements(segment_, p, folded, recorded);
  }
  result.processes = p;
  result.totals = totals;
  return result;
}

}  // namespace bspnow
