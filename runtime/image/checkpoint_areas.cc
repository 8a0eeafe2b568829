#include "runtime/image/checkpoint_areas.h"

#include <string.h>
#include <unistd.h>

#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kReasonBytes = 400;

}  // namespace

void CheckpointAreas::Register(void* data, std::uint64_t bytes) {
  if (resumed_) {
    ReportMisuse("bsp_checkpoint_register",
                 "bsp_checkpoint_resume has been called; register all areas before it");
  }
  if (data == nullptr && bytes != 0) {
    ReportMisuse("bsp_checkpoint_register",
                 "data is NULL, and nbytes is %llu; give the address of the area",
                 static_cast<unsigned long long>(bytes));
  }
  areas_.push_back(SavedArea{.data = data, .bytes = bytes});
}

void CheckpointAreas::RequireReadyToResume() const {
  if (resumed_) ReportMisuse("bsp_checkpoint_resume", "it has been called before; call it once");
  if (areas_.empty()) {
    ReportMisuse("bsp_checkpoint_resume",
                 "no area is registered; call bsp_checkpoint_register for each area first (with"
                 " NULL and 0 if this process has none)");
  }
}

SavedPlace CheckpointAreas::Resume(const UniqueFd& image) {
  resumed_ = true;
  if (!image.valid()) return {};
  ImageHeader header;
  if (pread(image.get(), &header, sizeof header, 0) != sizeof header) {
    ReportFailure("bsp_checkpoint_resume cannot read the image of this process");
  }
  char reason[kReasonBytes] = "";
  if (!LoadAreas(image.get(), areas_.begin(), areas_.size(), reason, sizeof reason)) {
    ReportMisuse("bsp_checkpoint_resume",
                 "%s; register the same areas, in the same order and with the same sizes, as in the"
                 " run that was saved",
                 reason);
  }
  return {.superstep = header.superstep,
          .clocks = {.elapsed_ns = header.elapsed_ns, .processor_ns = header.processor_ns}};
}

}  // namespace bspnow::runtime
