// The address space of this process as entries of the image, without mappings that a restore makes
// anew (the segment, our own memory, the kernel's pages). A mapping that cannot be saved is the
// reason why there is no image.
#ifndef RUNTIME_IMAGE_PROC_IMAGE_MAPS_H_
#define RUNTIME_IMAGE_PROC_IMAGE_MAPS_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Fills `work.mappings`, ascending, from /proc/self/maps. Returns false if a mapping cannot be
/// saved, and then `work.reason` describes it.
bool ReadMappings(ImageWork& work);

/// Adds flags and the presence of pages from /proc/self/smaps. This takes 5 ms per GiB, so the
/// writer does it. Returns false as above.
bool ReadMappingDetails(ImageWork& work);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_IMAGE_MAPS_H_
