// The identities that everything is keyed by. Distinct types, so that swapped arguments do not
// compile. Knows nothing else.
#ifndef BASE_IDS_H_
#define BASE_IDS_H_

#include <cstdint>
#include <type_traits>

namespace bspnow {

enum class Pid : std::uint32_t {};        ///< A BSP process, [0, nprocs).
enum class JobId : std::uint64_t {};      ///< One submitted program.
enum class Epoch : std::uint64_t {};      ///< A job's incarnation; 1 at first start.
enum class GroupId : std::uint64_t {};    ///< Processes that synchronise together.
enum class Superstep : std::uint64_t {};  ///< 0 at bsp_begin.
enum class WorkerId : std::uint32_t {};   ///< A worker daemon that registered; 0: the coordinator.
enum class SlotId : std::uint32_t {};     ///< A registration slot, the same on all processes.

inline constexpr std::uint32_t kProcessesMax = 16384;       ///< p of a job,
inline constexpr std::uint32_t kProcessesOfNodeMax = 4096;  ///< and of it on one node.

inline constexpr GroupId kRootGroup{0};  ///< The whole job; the one that BSPlib's calls act on.
inline constexpr SlotId kNoSlot{0xffffffff};

/// The number of an id, for indexing and printing.
template <typename Id>
constexpr auto Value(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

}  // namespace bspnow

#endif  // BASE_IDS_H_
