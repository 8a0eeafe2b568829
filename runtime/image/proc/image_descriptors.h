// The open files of this process, as the image holds them, or the name of what cannot be saved.
#ifndef RUNTIME_IMAGE_PROC_IMAGE_DESCRIPTORS_H_
#define RUNTIME_IMAGE_PROC_IMAGE_DESCRIPTORS_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Fills `work.files`, ascending. What libbsp rebuilds is left out: link, doorbell and directory of
/// the request, and `tracker` (or -1). False: `work.reason` names what cannot be saved.
bool ReadDescriptors(ImageWork& work, int tracker);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_IMAGE_DESCRIPTORS_H_
