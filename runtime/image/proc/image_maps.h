// The address space of this process, as the image holds it: without what is rebuilt (the segment,
// our own memory, the kernel's pages), or the name of what cannot be saved.
#ifndef RUNTIME_IMAGE_PROC_IMAGE_MAPS_H_
#define RUNTIME_IMAGE_PROC_IMAGE_MAPS_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Fills `work.mappings`, ascending, from /proc/self/maps. False: `work.reason` names what cannot
/// be saved.
bool ReadMappings(ImageWork& work);

/// Adds to them what /proc/self/smaps knows, flags and whether there are pages. It takes 5 ms per
/// GiB, so the writer does it. False: `work.reason` names what cannot be saved.
bool ReadMappingDetails(ImageWork& work);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_IMAGE_MAPS_H_
