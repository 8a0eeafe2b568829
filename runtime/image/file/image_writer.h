// Writes an image whose tables are ready, and reports to the worker. Runs in the child that was
// cloned for it, or in the process itself while that stands still.
#ifndef RUNTIME_IMAGE_FILE_IMAGE_WRITER_H_
#define RUNTIME_IMAGE_FILE_IMAGE_WRITER_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Reports to the worker that there will be no image.
void ReportRefusal(const ImageRequest& request, const Reason& reason);

/// Notes the registers, and has a child write and report; if there can be none, the process itself.
/// `work` holds the request, what is to be saved, and of the header kind and base. Returns the
/// child's number, or 0: it is done. A restored process comes back here, too, with any result.
int SnapshotAndWrite(ImageWork& work);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_FILE_IMAGE_WRITER_H_
