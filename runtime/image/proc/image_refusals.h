// Finds state, besides memory and files, that no image can hold: other threads, children, timers.
#ifndef RUNTIME_IMAGE_PROC_IMAGE_REFUSALS_H_
#define RUNTIME_IMAGE_PROC_IMAGE_REFUSALS_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Ends the paused threads of OpenMP, if there are any. This calls the program's libraries, so it
/// comes before anything else. Their `threadprivate` data is lost.
void EndPooledThreads();

/// Returns false if the process has such state, and then `work.reason` describes it. The writer of
/// the last image must have been reaped.
bool IsAlone(ImageWork& work);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_IMAGE_REFUSALS_H_
