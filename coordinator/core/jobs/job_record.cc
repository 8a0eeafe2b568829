#include "coordinator/core/jobs/job_record.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {

std::string StateText(proto::JobState state) {
  return absl::AsciiStrToLower(proto::JobState_Name(state));
}

std::string StateSentence(const proto::Job& job) {
  const proto::JobState state = job.state();
  const char* const verb = state == proto::CANCELLED ? "was" : HasEnded(state) ? "has" : "is";
  return absl::StrCat("job ", job.job(), " ", verb, " ", StateText(state));
}

void AddFilesLost(const std::string& why, proto::Job& job) {
  constexpr std::size_t kEnoughBytes = 4096;  // Each of a thousand nodes may have lost some.
  if (job.files_lost().size() >= kEnoughBytes) return;
  job.set_files_lost(job.files_lost().empty() ? why : absl::StrCat(job.files_lost(), "; ", why));
}

std::vector<NodeShare> SharesOf(const JobRecord& record) {
  std::vector<NodeShare> shares;
  for (int i = 0; i < record.hosts_size(); ++i) {
    const proto::JobHost& host = record.hosts(i);
    NodeShare& share =
        shares.emplace_back(NodeShare{.worker = WorkerOf(host), .pids = {}, .slots = host.slots()});
    for (const std::uint32_t pid : record.job().placement(i).pids()) share.pids.push_back(Pid{pid});
  }
  return shares;
}

std::vector<std::string> NodesOf(const JobRecord& record) {
  std::vector<std::string> nodes;
  for (const proto::Placement& placement : record.job().placement())
    nodes.push_back(placement.node());
  return nodes;
}

SlotClaim SlotClaimOf(const proto::JobSpec& spec) {
  return {.nprocs = spec.nprocs(),
          .nodes = spec.nodes(),
          .per_node = spec.per_node(),
          .memory_bytes = spec.memory_bytes(),
          .constraints = {spec.constraints().begin(), spec.constraints().end()},
          .oversubscribe = spec.oversubscribe()};
}

std::int32_t RestartsMaxOf(const proto::JobSpec& spec) {
  return spec.restarts_max() == 0 ? kRestartsUsual : spec.restarts_max();
}

}  // namespace bspnow::coordinator
