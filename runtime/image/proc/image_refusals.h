// What besides memory and files a process may have that no image can hold: other threads,
// children, timers.
#ifndef RUNTIME_IMAGE_PROC_IMAGE_REFUSALS_H_
#define RUNTIME_IMAGE_PROC_IMAGE_REFUSALS_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Gives the threads of OpenMP back if there are any: calls into the program's libraries, so it
/// comes before anything else. Data that is `threadprivate` in them is lost.
void EndPooledThreads();

/// False: `work.reason` names what the process has. The writer of the last image must have been
/// reaped.
bool IsAlone(ImageWork& work);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_IMAGE_REFUSALS_H_
