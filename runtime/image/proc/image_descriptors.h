// The open files of this process as entries of the image. A file that cannot be saved is the reason
// why there is no image.
#ifndef RUNTIME_IMAGE_PROC_IMAGE_DESCRIPTORS_H_
#define RUNTIME_IMAGE_PROC_IMAGE_DESCRIPTORS_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Fills `work.files`, ascending. Descriptors that libbsp opens again are left out: link, doorbell,
/// mailbox, lanes and directory of the request, and `tracker` (or -1). Returns false if a file
/// cannot be saved, and then `work.reason` describes it.
bool ReadDescriptors(ImageWork& work, int tracker);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_IMAGE_DESCRIPTORS_H_
