#include "worker/node_spec.h"

#include <absl/strings/str_split.h>

#include <random>
#include <utility>

#include "base/cgroup.h"
#include "base/link_feature.h"
#include "base/version.h"
#include "runtime/link/link.h"
#include "worker/node_facts.h"

namespace bspnow::worker {

std::uint64_t RandomIncarnation() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

proto::NodeSpec NodeSpecOf(const WorkerSettings& settings, const std::string& flops_file,
                           const std::string& accounts) {
  proto::NodeSpec node;
  node.set_name(settings.name);
  node.set_slots(settings.slots);
  node.set_memory_bytes(MemoryBytes());
  for (std::string& feature : CpuFeatures()) node.add_cpu_features(std::move(feature));
  node.add_cpu_features(LinkFeature(kLinkVersion));
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
