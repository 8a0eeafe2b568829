// For tests: a coordinator that takes the files of a job and then hangs, as one does whose disk
// does.
#ifndef WORKER_RPC_TESTING_SILENT_COORDINATOR_H_
#define WORKER_RPC_TESTING_SILENT_COORDINATOR_H_

#include <memory>
#include <string>

namespace bspnow::worker {

class SilentCoordinator {
 public:
  SilentCoordinator();
  ~SilentCoordinator();

  std::string address() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bspnow::worker

#endif  // WORKER_RPC_TESTING_SILENT_COORDINATOR_H_
