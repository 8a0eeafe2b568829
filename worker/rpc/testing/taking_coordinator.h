// For tests: a coordinator that takes the files of a job, and keeps those of the last call that
// brought its file kLast; a call that is broken off does not come that far.
#ifndef WORKER_RPC_TESTING_TAKING_COORDINATOR_H_
#define WORKER_RPC_TESTING_TAKING_COORDINATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace bspnow::worker {

class TakingCoordinator {
 public:
  static constexpr const char* kLast = "last";  ///< Of one chunk.

  enum class Holes : std::uint8_t { kUnknown, kTaken };  ///< kUnknown: as coordinators of before.
  explicit TakingCoordinator(Holes holes = Holes::kUnknown);
  ~TakingCoordinator();

  std::string address() const;
  /// By name.
  std::map<std::string, std::string> files() const;
  std::uint64_t hole_bytes() const;
  /// Those that have begun here, also those that were broken off.
  int calls() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bspnow::worker

#endif  // WORKER_RPC_TESTING_TAKING_COORDINATOR_H_
