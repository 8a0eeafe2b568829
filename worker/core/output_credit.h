// How much output of a job's processes may be under way from this node: so a slow coordinator, or a
// full disk there, makes the programs wait instead of filling memory.
#ifndef WORKER_CORE_OUTPUT_CREDIT_H_
#define WORKER_CORE_OUTPUT_CREDIT_H_

#include <cstddef>
#include <cstdint>

namespace bspnow::worker {

/// The output that a bsp-host may have sent ahead of what the coordinator has acknowledged.
inline constexpr std::int64_t kOutputCreditBytes = std::int64_t{1} << 20;

/// What a piece of output takes of it: many small ones fill memory, too.
constexpr std::uint64_t OutputCharge(std::size_t text_bytes) {
  constexpr std::uint64_t kPieceBytes = 256;
  return text_bytes + kPieceBytes;
}

}  // namespace bspnow::worker

#endif  // WORKER_CORE_OUTPUT_CREDIT_H_
