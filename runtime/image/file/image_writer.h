// Writes an image whose tables are ready, and reports to the worker. Runs in the child that was
// cloned for it, or in the process itself while that stands still.
#ifndef RUNTIME_IMAGE_FILE_IMAGE_WRITER_H_
#define RUNTIME_IMAGE_FILE_IMAGE_WRITER_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Reports to the worker that there will be no image.
void ReportRefusal(const ImageRequest& request, const Reason& reason);

/// Saves the registers and clones a child that writes the image and reports. If no child can be
/// cloned, the process does both itself. `work` holds the request, what is to be saved, and kind
/// and base of the header. Returns the child's number, or 0 if the image is written. A restored
/// process returns from this call, too; its result means nothing.
int SnapshotAndWrite(ImageWork& work);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_FILE_IMAGE_WRITER_H_
