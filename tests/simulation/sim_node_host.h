// What the processes of a job on a simulated machine need of the worker there.
#ifndef TESTS_SIMULATION_SIM_NODE_HOST_H_
#define TESTS_SIMULATION_SIM_NODE_HOST_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/ids.h"
#include "net/frame.h"
#include "proto/workers.pb.h"
#include "tests/simulation/sim_store.h"

namespace bspnow {

class SimNode;

class SimNodeHost {
 public:
  /// A frame to the coordinator, if there is a stream.
  virtual void SendOfJob(const SimNode& node, FrameKind kind, std::uint64_t superstep,
                         std::span<const std::byte> payload) = 0;
  /// What its machine's clock shows.
  virtual std::uint64_t clock_ns() const = 0;
  /// It cannot start anything.
  virtual bool sick() const = 0;
  /// A start that begins now waits for what it needs for so long; kForGood: it waits for ever.
  static constexpr std::uint64_t kForGood = ~std::uint64_t{0};
  virtual std::uint64_t hanging_ns() const = 0;
  /// An older one of its job is there, and has first to be cleared away.
  virtual bool HasOlderEpoch(const SimNode& node) const = 0;
  /// Nothing can be killed there for so long.
  virtual std::uint64_t jammed_ns() const = 0;
  /// The image, from here or a holder. DATA_LOSS if none of them has it undamaged.
  virtual absl::StatusOr<SimImage> Collect(JobId job, const proto::Resume& resume,
                                           const proto::ImageOfPid& image) = 0;
  /// The processes have written their images; nothing of them is durable yet.
  virtual void OnWritten(JobId job, std::uint64_t checkpoint,
                         const std::map<std::uint32_t, SimImage>& images) = 0;
  /// p as bsp_begin fixed it before the job was here; 0: it has not come.
  virtual std::uint32_t TakeEarlyBegin(JobId job, Epoch epoch) = 0;
  /// The node is gone.
  virtual void Forget(const SimNode& node) = 0;

 protected:
  ~SimNodeHost() = default;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_NODE_HOST_H_
