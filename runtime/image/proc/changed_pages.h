// Which pages were written since the last image. A userfaultfd with asynchronous write protection
// (Linux 6.7) knows it; without one, all present pages count as written.
#ifndef RUNTIME_IMAGE_PROC_CHANGED_PAGES_H_
#define RUNTIME_IMAGE_PROC_CHANGED_PAGES_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// A userfaultfd that was seen to work on pages of its own; -1: this system has none.
int OpenTracker();

/// The program has neither closed nor replaced it.
bool IsTracker(int tracker);

enum class PagesWanted { kAll, kChanged };

/// Fills `work.ranges` from `work.mappings`, marks in them what is unchanged text (kText), and has
/// work.tracker, if it is not -1, protect every present page. With kChanged, it must have seen the
/// last image. False: the reason why not is in `work.reason`.
bool FindPages(ImageWork& work, PagesWanted wanted);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_CHANGED_PAGES_H_
