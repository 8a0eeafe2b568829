// Where the processes of one job would go, given what is free: pure. The least loaded nodes come
// first; pids are given out in blocks, consecutive on each node. All nodes of a job reach each
// other.
#ifndef COORDINATOR_CORE_JOBS_PLACEMENT_H_
#define COORDINATOR_CORE_JOBS_PLACEMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"

namespace bspnow::coordinator {

/// What the scheduler sees of a node.
struct SchedulerNode {
  WorkerId worker{0};
  std::string name{};
  std::uint32_t slots = 0;         ///< Processes that it takes.
  std::uint32_t accounts = 0;      ///< One for each job; 0: it takes any number of jobs.
  std::uint64_t memory_bytes = 0;  ///< 0: not known, any job fits.
  double load = 0;                 ///< The machine's, over the last minute.
  std::map<std::string, std::string> labels{};
  bool drained = false;                  ///< By its administrator.
  bool leaving = false;                  ///< Its worker has been told to end.
  std::uint64_t rests_until_ns = 0;      ///< See Node::OnFault and GiveUp; 0: it does not rest.
  std::set<std::string> cpu_features{};  ///< And LinkFeature.
  /// Workers that it has tried to reach in vain, and why.
  std::map<WorkerId, std::string> unreachable{};

  /// Takes jobs, as far as it has slots.
  bool open() const { return !drained && !leaving; }
};

/// What a job asks of the cluster.
struct SlotClaim {
  std::uint32_t nprocs;
  std::uint32_t nodes;                      ///< Exactly this many; 0: any number.
  std::uint32_t per_node;                   ///< At most this many processes a node; 0: any number.
  std::uint64_t memory_bytes;               ///< Per process; 0: not counted.
  std::vector<std::string> constraints;     ///< Labels that a node must have: NAME or NAME=VALUE.
  bool oversubscribe;                       ///< More processes than slots, on its own slots.
  std::vector<std::string> cpu_features{};  ///< That its processes were seen to use.
  std::set<std::string> avoids{};           ///< Names of nodes that could not start it.

  friend auto operator<=>(const SlotClaim&, const SlotClaim&) = default;
};

/// The processes of a job on one node.
struct NodeShare {
  WorkerId worker;
  std::vector<Pid> pids;  ///< Ascending, consecutive.
  std::uint32_t slots;    ///< That they take; fewer than pids only if the job oversubscribes.
};

/// What is left of a node.
struct FreeNode {
  const SchedulerNode* node;
  std::uint32_t slots;         ///< Free ones; none where no account is.
  std::uint32_t accounts;      ///< Free; meaningless if it takes any number of jobs.
  std::uint64_t memory_bytes;  ///< Free; meaningless if the node's is not known.
};

/// The first CPU feature that the claim needs and the node lacks; empty if it has all.
std::string MissingCpuFeature(const SchedulerNode& node, const SlotClaim& claim);

/// Has all labels that the claim asks for.
bool HasLabels(const SchedulerNode& node, const SlotClaim& claim);

/// Labels and CPU features are there, and the claim does not avoid it.
bool Suits(const SchedulerNode& node, const SlotClaim& claim);

/// Slots that the claim takes on nodes that are free like these: its processes, or all that suit it
/// if it may share them among more.
std::uint32_t SlotsNeeded(const SlotClaim& claim, const std::vector<FreeNode>& whole_cluster);

/// Slots that the claim can have there now: suitable, within its limits a node.
std::uint32_t SlotsToHave(const SlotClaim& claim, const std::vector<FreeNode>& nodes);

/// Why it does not fit, though it would if all nodes reached each other: "nodes w3 and w7 do not
/// reach each other: no answer in 2 s". Empty if there is another reason.
std::string WhyApart(const SlotClaim& claim, std::uint32_t slots,
                     const std::vector<FreeNode>& nodes);

/// Whether Place finds anything.
bool Fits(const SlotClaim& claim, std::uint32_t slots, const std::vector<FreeNode>& nodes);

/// Nothing if it does not fit. `slots`: see SlotsNeeded.
std::optional<std::vector<NodeShare>> Place(const SlotClaim& claim, std::uint32_t slots,
                                            const std::vector<FreeNode>& nodes);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_PLACEMENT_H_
