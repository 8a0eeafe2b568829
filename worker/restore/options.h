// The command line of bsp-restore, see restore_command.h. Copied, not pointed to: the memory that
// holds argv goes before the last of it is needed.
#ifndef WORKER_RESTORE_OPTIONS_H_
#define WORKER_RESTORE_OPTIONS_H_

#include "worker/restore/path.h"

namespace bspnow::worker::restore {

inline constexpr int kImagesMax = 64;

struct Options {
  int images[kImagesMax];  ///< Open files, oldest first.
  int image_count = 0;
  int texts = -1;  ///< Directory.
  int link = 3;
  Path old_directory;
  Path new_directory;
};

/// Opens what it names. Fails by a message.
void ReadOptions(int argument_count, char** arguments, Options& options);

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_OPTIONS_H_
