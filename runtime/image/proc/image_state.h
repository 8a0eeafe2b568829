// The state of a process besides its memory and files: ImageState, all but the registers.
#ifndef RUNTIME_IMAGE_PROC_IMAGE_STATE_H_
#define RUNTIME_IMAGE_PROC_IMAGE_STATE_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Fills `work.state`; the signal mask is the caller's, who has blocked all signals meanwhile.
/// Returns false if some state cannot be saved, and then `work.reason` describes it.
bool RecordState(ImageWork& work, std::uint64_t signal_mask);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_IMAGE_STATE_H_
