// Where the kernel has put its vdso and the data of it, from /proc/self/maps.
#ifndef WORKER_RESTORE_PRESENT_MAPS_H_
#define WORKER_RESTORE_PRESENT_MAPS_H_

#include "worker/restore/workspace.h"

namespace bspnow::worker::restore {

struct VdsoPiece {
  Range range;
  bool is_code;
};

struct PresentVdso {
  VdsoPiece pieces[4];  ///< Ascending: [vvar], [vvar_vclock], [vdso].
  int count = 0;
};

PresentVdso FindVdso();

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_PRESENT_MAPS_H_
