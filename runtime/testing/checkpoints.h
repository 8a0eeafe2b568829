// What a worker does about checkpoints and leases, for tests of libbsp.
#ifndef RUNTIME_TESTING_CHECKPOINTS_H_
#define RUNTIME_TESTING_CHECKPOINTS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "runtime/link/link.h"
#include "runtime/testing/exchange.h"
#include "runtime/testing/image.h"

namespace bspnow::runtime {

/// An image to be taken; its number is its place in the plan, from 1.
struct SaveForTest {
  std::uint64_t superstep;  ///< At the end of this one; on one node, of this or a later one.
  std::uint32_t hold = 0;
  std::uint64_t hold_ns = 0;  ///< For that long once all images are complete.
};

/// What processes left to be resumed, by pid.
struct ImagesForTest {
  std::vector<ImageForTest> facts;
  std::vector<UniqueFd> sockets;  ///< To the child that is the image.
  std::vector<UniqueFd> areas;    ///< The memfd, if it is one of areas.
  UniqueFd errors;                ///< Their standard error.
};

class CheckpointsForTest {
 public:
  CheckpointsForTest(NodesForTest& nodes, std::vector<UniqueFd>& links,
                     std::vector<SaveForTest> saves)
      : nodes_(nodes), links_(links), saves_(std::move(saves)) {}

  /// Answers what the p processes say, and lets them go. Whether there was anything.
  bool Serve(std::uint32_t p);

  /// The barrier that ends `superstep` is complete: 1 if the processes are to be saved.
  std::uint32_t Order(std::uint64_t superstep);

  /// The same on one node, where it may be any time.
  void Want();

  /// Areas to be handed out by pid to those who ask in bsp_checkpoint_resume.
  void HandOut(std::vector<UniqueFd> areas) { areas_ = std::move(areas); }

  /// Of each image of each process, in order.
  const std::vector<ImageForTest>& taken() const { return taken_; }
  const std::vector<std::string>& refusals() const { return refusals_; }
  ImagesForTest TakeImages() { return std::move(images_); }

 private:
  bool Hear(std::uint32_t pid, std::uint32_t p);
  void GiveOutDirectories(std::uint32_t p);
  void OnReport(const LinkImageReport& report, std::uint32_t p);

  NodesForTest& nodes_;
  std::vector<UniqueFd>& links_;
  std::vector<SaveForTest> saves_;
  std::vector<UniqueFd> areas_;
  std::uint64_t ordered_ = 0;
  bool under_way_ = false;
  std::set<std::uint32_t> asked_;
  std::uint32_t reports_ = 0;
  std::vector<ImageForTest> taken_;
  std::vector<std::string> refusals_;
  ImagesForTest images_;
};

/// Lets the lease of all nodes run out while the job runs, and sees that it stands still.
class LeaseForTest {
 public:
  LeaseForTest(NodesForTest& nodes, std::uint64_t expires_behind)
      : nodes_(nodes), expires_behind_(expires_behind) {}

  /// To be called again and again, until it is over.
  bool over() const { return expires_behind_ == 0 || phase_ == Phase::kRenewed; }
  void Step();

 private:
  enum class Phase { kValid, kExpired, kRenewed };

  std::vector<std::uint32_t> Progress() const;
  void SetUntil(std::uint64_t until_ns);

  NodesForTest& nodes_;
  std::uint64_t expires_behind_;  ///< This many supersteps; 0: never.
  Phase phase_ = Phase::kValid;
  std::uint64_t since_ns_ = 0;
  std::vector<std::uint32_t> seen_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_CHECKPOINTS_H_
