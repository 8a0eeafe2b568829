#include "worker/node_spec.h"

#include <absl/strings/str_split.h>

#include <utility>

#include "base/cgroup.h"
#include "base/version.h"
#include "worker/node_facts.h"

namespace bspnow::worker {

proto::NodeSpec NodeSpecOf(const WorkerSettings& settings, const std::string& flops_file,
                           const std::string& accounts) {
  proto::NodeSpec node;
  node.set_name(settings.name);
  node.set_slots(settings.slots);
  node.set_memory_bytes(MemoryBytes());
  for (std::string& feature : CpuFeatures()) node.add_cpu_features(std::move(feature));
  node.set_flops(FlopsOf(flops_file));
  for (const std::string& label : settings.labels) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(label, absl::MaxSplits('=', 1));
    (*node.mutable_labels())[pair.first] = pair.second;
  }
  node.set_version(kVersion);
  node.set_accounts(accounts);
  return node;
}

}  // namespace bspnow::worker
