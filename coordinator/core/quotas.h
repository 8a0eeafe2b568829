// How much of the cluster one user may take.
#ifndef COORDINATOR_CORE_QUOTAS_H_
#define COORDINATOR_CORE_QUOTAS_H_

#include <cstdint>

namespace bspnow::coordinator {

/// For each user alike; 0: no limit.
struct Quotas {
  std::uint32_t slots = 0;  ///< That jobs have at once. What recovers is not kept waiting for it.
  std::uint32_t jobs = 0;   ///< That have not ended.
  std::uint64_t bytes = 0;  ///< Of programs, output and files, on the coordinator's disk.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_QUOTAS_H_
