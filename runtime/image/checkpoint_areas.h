// What the program gave to bsp_checkpoint_register: all that an image of it holds. Such a program
// starts from its beginning when its job is resumed, and finds its areas as they were by
// bsp_checkpoint_resume.
#ifndef RUNTIME_IMAGE_CHECKPOINT_AREAS_H_
#define RUNTIME_IMAGE_CHECKPOINT_AREAS_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/unique_fd.h"
#include "runtime/image/process_image.h"

namespace bspnow::runtime {

/// Of a process, as bsp_time and bsp_cputime show them.
struct Clocks {
  std::uint64_t elapsed_ns = 0;    ///< Since bsp_begin.
  std::uint64_t processor_ns = 0;  ///< Used.
};

/// Where the program was when its areas were saved.
struct SavedPlace {
  std::uint64_t superstep = 0;  ///< That began then; 0: nothing was saved.
  Clocks clocks;
};

class CheckpointAreas {
 public:
  /// Ends the job if the program has resumed already, or `data` is NULL and has bytes.
  void Register(void* data, std::uint64_t bytes);

  /// Whether the program is one that is saved in this way.
  bool any() const { return !areas_.empty(); }
  bool resumed() const { return resumed_; }

  /// Ends the job unless Resume may be called now.
  void RequireReadyToResume() const;

  /// Fills the areas from `image`, if there is one. Ends the job if they do not fit it.
  SavedPlace Resume(const UniqueFd& image);

  /// The section has ended in which they were registered, and their memory may be gone.
  void Drop() { areas_.clear(); }

  ImageOutcome Save(ProcessImage& image, const ImageRequest& request) const {
    return image.SaveAreas(request, areas_.begin(), areas_.size());
  }

 private:
  GrowArray<SavedArea> areas_;
  bool resumed_ = false;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_CHECKPOINT_AREAS_H_
