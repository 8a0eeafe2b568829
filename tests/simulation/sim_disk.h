// The checkpoints of one simulated worker on its machine's disk, and their ways to other machines:
// each call takes its time, and may fail.
#ifndef TESTS_SIMULATION_SIM_DISK_H_
#define TESTS_SIMULATION_SIM_DISK_H_

#include <absl/status/statusor.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_store.h"
#include "worker/core/checkpoint_disk.h"

namespace bspnow {

/// Another node, as the network lets this one reach it.
class SimPartner {
 public:
  virtual SimStore& store() = 0;
  virtual void OnImagesReceived(JobId job, std::uint64_t checkpoint) = 0;

 protected:
  ~SimPartner() = default;
};

class SimDisk final : public worker::CheckpointDisk {
 public:
  struct Parts {
    SimLoop& loop;
    SimOracle& oracle;
    SimLoop::ActorPtr daemon;
    SimStore& store;
    /// nullptr if the node of this name does not answer.
    std::function<SimPartner*(const std::string&)> reach;
    /// Whether the coordinator that this worker is registered with has ordered to keep this list.
    std::function<bool(JobId, const std::vector<std::uint64_t>&)> is_ordered;
  };

  explicit SimDisk(Parts parts) : parts_(std::move(parts)) {}

  /// The daemon is dead: nothing that was begun comes to its end.
  void Die() { dead_ = true; }

  /// For so long what is asked of it takes its time.
  /// What has begun may last for as long as was said: never shorter than that.
  void SlowDown(std::uint64_t ns) {
    slow_until_ns_ = std::max(slow_until_ns_, parts_.loop.now_ns() + ns);
  }
  bool slow() const { return parts_.loop.now_ns() < slow_until_ns_; }

  /// The processes have written their images; Settle makes them durable.
  void OnWritten(JobId job, std::uint64_t checkpoint,
                 const std::map<std::uint32_t, SimImage>& images) {
    written_[{job, checkpoint}] = images;
  }

  /// The image, from here or a holder; nothing if it is not to be had undamaged.
  absl::StatusOr<SimImage> Collect(JobId job, const proto::Resume& resume,
                                   const proto::ImageOfPid& image);

  void CheckRoom(std::uint64_t bytes, std::function<void(const absl::Status&)> done) override;
  void Settle(JobId job, const proto::CheckpointStored& written,
              std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> done) override;
  absl::StatusOr<std::vector<proto::StoredJob>> List() override;
  void Discard(JobId job, std::uint64_t checkpoint, std::function<void()> done) override;
  void Release(JobId job, std::uint64_t checkpoint, std::function<void()> done) override;
  void Keep(JobId job, const std::vector<std::uint64_t>& checkpoints,
            std::function<void()> done) override;
  void Copy(const proto::CopyCheckpoint& order, const std::vector<std::uint32_t>& pids,
            std::function<void(const absl::Status&)> done) override;

 private:
  void Run(std::function<void()> work);
  /// Whether the disk of `store` has room for `images` more; else why not.
  absl::Status FindRoom(const SimStore& store, std::size_t images);
  /// What was ordered before a list was made comes to nothing.
  void RunOrdered(std::function<void()> removal, std::function<void()> done);
  absl::StatusOr<proto::CheckpointStored> SettleNow(JobId job, proto::CheckpointStored stored);
  absl::Status CopyNow(const proto::CopyCheckpoint& order, std::vector<std::uint32_t> pids);
  absl::Status CopyChain(const SimStore& from, SimStore& to, JobId job, std::uint64_t number,
                         std::uint32_t pid);
  bool HasSoundChain(const SimStore& store, JobId job, std::uint64_t number, std::uint32_t pid);

  Parts parts_;
  std::map<std::pair<JobId, std::uint64_t>, std::map<std::uint32_t, SimImage>> written_;
  std::uint64_t lists_ = 0;
  std::uint64_t slow_until_ns_ = 0;
  bool dead_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_DISK_H_
