// For tests: a node that takes every call of the service Images and then hangs, as one does whose
// disk does.
#ifndef WORKER_CHECKPOINT_TESTING_SILENT_IMAGES_H_
#define WORKER_CHECKPOINT_TESTING_SILENT_IMAGES_H_

#include <memory>
#include <string>

namespace bspnow::worker {

class SilentImages {
 public:
  SilentImages();
  ~SilentImages();

  std::string address() const;
  int calls() const;  ///< So far.

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_TESTING_SILENT_IMAGES_H_
