// Saves the process it lives in (docs/design.md, "Checkpoints"): last thing in bsp_sync, with raw
// system calls and without malloc. The process is held only until a copy-on-write child is cloned;
// the child writes the file. In the restored process the same call returns once more.
#ifndef RUNTIME_IMAGE_PROCESS_IMAGE_H_
#define RUNTIME_IMAGE_PROCESS_IMAGE_H_

#include <cstddef>
#include <cstdint>

#include "runtime/image/image_format.h"
#include "runtime/link/link.h"

namespace bspnow::runtime {

struct ImageWork;

/// Which image is asked for, and what a restore makes anew instead of reading it from the image.
struct ImageRequest {
  std::uint64_t job;
  std::uint64_t checkpoint;
  std::uint64_t base;  ///< 0: everything. Else the last checkpoint, if this process knows it.
  std::uint64_t superstep;
  std::uint32_t pid;
  std::uint32_t nprocs;
  std::uint64_t elapsed_ns;              ///< As in ImageHeader.
  std::uint64_t processor_ns;            ///< As in ImageHeader.
  int directory;                         ///< Of the images; the caller closes it.
  int link;                              ///< Over which the child reports (LinkImageReport).
  int doorbell;                          ///< Or -1.
  int mailbox;                           ///< Or -1.
  int lanes[kLanesMax + kBulkLanesMax];  ///< Or -1, each.
  const void* segment;
  std::uint64_t segment_bytes;
};

enum class ImageOutcome {
  kStarted,   ///< The child writes, and will report.
  kRefused,   ///< Something here cannot be saved; this has been reported.
  kRestored,  ///< This is another process, later: descriptors, link and segment are gone.
};

/// One area of bsp_checkpoint_register.
struct SavedArea {
  void* data;
  std::uint64_t bytes;
};

/// Keeps what an image must know about the image before. One in a process.
class ProcessImage {
 public:
  /// Before the first barrier; cheap.
  ProcessImage() = default;

  ImageOutcome Save(const ImageRequest& request);

  /// The same file and report, of kind kAreas: written at once, or by a child if it is large.
  ImageOutcome SaveAreas(const ImageRequest& request, const SavedArea* areas, std::size_t count);

 private:
  struct Preparation;

  void AwaitWriter();  ///< So that it is not taken for a child of the program's.
  bool Prepare(ImageWork& work, std::uint64_t signal_mask);

  std::uint64_t last_ = 0;  ///< The checkpoint since which changed pages are known; 0: none.
  int tracker_ = -1;        ///< userfaultfd.
  int writer_ = 0;          ///< The last child, to be reaped.
};

/// Reads the areas back from an image of that kind; what is wrong goes to `reason`.
bool LoadAreas(int image, const SavedArea* areas, std::size_t count, char* reason,
               std::size_t reason_bytes);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROCESS_IMAGE_H_
