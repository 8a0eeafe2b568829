#include "worker/exchange/node_segment.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bspnow::worker {

absl::StatusOr<NodeSegment> NodeSegment::Create(const SegmentPlan& plan) {
  const SegmentLayout layout = LayOutSegment(plan);
  const std::uint64_t bytes = SegmentBytes(layout);
  UniqueFd memory(memfd_create("bspnow", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid() || ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) {
    const char* fix = errno == EFBIG ? "; raise the limit on file sizes (ulimit -f unlimited)" : "";
    return absl::InternalError(
        absl::StrCat("creating the memory segment of the job: ", strerror(errno), fix));
  }
  // A process that could shorten it would make its readers die of SIGBUS.
  fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
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
  header.node = 0;
  header.nodes = 1;
  header.lease_until_ns.store(~std::uint64_t{0});
  return NodeSegment(std::move(memory), Segment(std::move(region), layout));
}

void NodeSegment::Place(std::uint32_t node, const std::vector<std::vector<Pid>>& hosts) {
  NodeHeader& header = segment_.header();
  header.node = node;
  header.nodes = static_cast<std::uint32_t>(hosts.size());
  for (std::uint32_t k = 0; k < hosts.size(); ++k) {
    for (const Pid pid : hosts[k]) segment_.cell(pid).node = k;
  }
}

void NodeSegment::Resume(std::uint64_t first_superstep, std::uint32_t participants) {
  NodeHeader& header = segment_.header();
  header.first_superstep = first_superstep;
  header.participants.value.store(participants);
}

void NodeSegment::SetLease(std::uint64_t until_ns) {
  segment_.header().lease_until_ns.store(until_ns);
}

void NodeSegment::SetMemoryGroup(const std::string& path, std::uint64_t limit_bytes) {
  MemoryGroup& group = segment_.header().memory_group;
  if (path.empty() || path.size() >= MemoryGroup::kPathBytes) return;
  path.copy(group.path, path.size());
  group.limit_bytes = limit_bytes;
}

void NodeSegment::OrderImage(const ImagePlan& plan) {
  ordered_ = plan.checkpoint;
  awaited_.insert(plan.checkpoint);
  segment_.header().memory_group.images.store(awaited_.size());
  ImageOrder& order = segment_.header().image;
  order.checkpoint = plan.checkpoint;
  order.base = plan.base;
  order.hold = plan.after == ImagePlan::After::kHold ? 1 : 0;
}

bool NodeSegment::TakeOutcome(std::uint64_t checkpoint) {
  const bool awaited = awaited_.erase(checkpoint) != 0;
  segment_.header().memory_group.images.store(awaited_.size());
  return awaited;
}

void NodeSegment::RaiseWanted() {
  ImageOrder& order = segment_.header().image;
  order.wanted.store(order.checkpoint);
}

void NodeSegment::ReleaseHeld(std::uint64_t checkpoint) {
  segment_.header().image.ReleaseHeld(checkpoint);
}

Superstep NodeSegment::superstep(Pid pid) const {
  const std::uint32_t started = segment_.cell(pid).started.value.load();
  return Superstep{segment_.header().first_superstep + (started == 0 ? 0 : started - 1u)};
}

std::uint32_t NodeSegment::participants() const {
  const std::uint32_t p = segment_.header().participants.value.load();
  return p <= segment_.layout().nprocs ? p : 0;
}

// Supersteps that all processes have recorded.
std::uint64_t NodeSegment::recorded(std::uint32_t p) const {
  std::uint64_t recorded = segment_.cell(Pid{0}).recorded.load();
  for (std::uint32_t i = 1; i < p; ++i) {
    recorded = std::min(recorded, segment_.cell(Pid{i}).recorded.load());
  }
  return recorded;
}

JobMeasurements NodeSegment::Progress() const {
  const std::uint32_t p = participants();
  JobMeasurements result{.processes = p, .totals = {}};
  result.totals = ReadTotals(segment_.header().totals_version, segment_.header().totals);
  if (p == 0) return result;
  const std::uint64_t folded = result.totals.supersteps;
  const std::uint64_t all = recorded(p);
  if (all > folded && all - folded <= kRingSupersteps) {
    AddMeasurements(segment_, p, folded, all, result.totals);
  }
  return result;
}

JobMeasurements NodeSegment::Measure() {
  const JobMeasurements result = Progress();
  segment_.header().totals = result.totals;
  return result;
}

}  // namespace bspnow::worker
