// Decides when which fault hits a stream of bytes: by a seed and the position in the stream, not by
// how TCP happens to cut it into pieces. Pure: it sees numbers of bytes, and returns what to do.
#ifndef TESTS_CLUSTER_FAULT_PLAN_H_
#define TESTS_CLUSTER_FAULT_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

namespace bspnow {

enum class Fault : std::size_t {
  kFlip,      ///< One bit of one byte is wrong.
  kReset,     ///< The connection is reset.
  kStall,     ///< No byte passes for a while.
  kHalfOpen,  ///< No byte passes any more, but the connection stays open.
};
inline constexpr std::size_t kFaultKinds = 4;

/// How often faults occur, and how they look. All zero: bytes pass as they are.
struct FaultSettings {
  std::array<std::uint64_t, kFaultKinds> mean_bytes{};  ///< Between two faults; 0: never.
  std::uint64_t stall_ms = 0;
  std::uint64_t delay_ms = 0;     ///< Of every byte.
  std::uint64_t piece_bytes = 0;  ///< Pieces of 1 to this many are written; 0: as they come.

  bool operator==(const FaultSettings&) const = default;
};

/// One direction of one connection.
class FaultPlan {
 public:
  struct Step {
    std::size_t bytes;  ///< Pass on this many,
    bool faulty;        ///< then cause `fault`; a flip hits the last of these bytes.
    Fault fault;
    unsigned bit;  ///< Which is flipped, 0 to 7.
  };

  explicit FaultPlan(std::uint64_t seed) : chance_(seed) {}

  /// What to do with the next `available` bytes, of which there is at least one.
  Step Next(const FaultSettings& settings, std::size_t available);

 private:
  void Draw(std::size_t kind);

  std::mt19937_64 chance_;
  FaultSettings settings_;
  unsigned bit_ = 0;                                   ///< Which the next flip hits.
  std::array<std::uint64_t, kFaultKinds> distance_{};  ///< Bytes up to the next fault, included.
};

}  // namespace bspnow

#endif  // TESTS_CLUSTER_FAULT_PLAN_H_
