// A journal that is not what it was: what workers say of it when they register. See "State of the
// coordinator" in docs/design.md.
#include <spdlog/spdlog.h>

#include <utility>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include "coordinator/core/cluster.h"

namespace bspnow::coordinator {
namespace {

/// Frames have 32 bits for it.
constexpr std::uint64_t kTermMax = std::uint64_t{1} << 31;

}  // namespace

proto::RegisterReply Cluster::RefuseStranger(const proto::RegisterRequest& request) {
  if (strangers_.insert(request.node().name()).second)  // It will ask again and again.
    spdlog::warn(
        "event=worker_of_another_cluster worker={} its_cluster={} cluster={} "
        "reason=\"it keeps jobs of that cluster; was this coordinator started with the "
        "wrong --state-dir?\"",
        request.node().name(), request.cluster(), cluster_id_);
  proto::RegisterReply reply;
  reply.set_cluster(cluster_id_);
  return reply;
}

// The journal was replaced by an older copy: the worker has obeyed a later run, and would never
// obey this one.
absl::Status Cluster::TakeHigherTerm(const proto::RegisterRequest& request) {
  const std::string& name = request.node().name();
  if (request.term() > kTermMax)
    return absl::FailedPreconditionError(
        absl::StrCat("worker ", name, " knows a term ", request.term(),
                     ", which no coordinator has had: its note `cluster` is damaged"));
  if (!std::exchange(raises_term_, true)) {
    spdlog::error(
        "event=journal_is_older worker={} known_term={} term={} reason=\"the journal was replaced "
        "by an older copy; what has happened since is not known here. The coordinator starts anew "
        "with a higher term\"",
        name, request.term(), term_);
    ports_.journal.RaiseTerm(request.term(), [this](const absl::Status& raised) {
      raises_term_ = false;
      if (raised.ok()) return ports_.start_anew();
      spdlog::error("event=journal_failed error=\"{}\"", raised.ToString());
    });
  }
  return absl::UnavailableError(
      absl::StrCat("a later run of the coordinator has been obeyed, of term ", request.term(),
                   "; this one of term ", term_, " starts anew with a higher one"));
}

// The journal has lost these jobs: nobody may take their images for those of jobs that have ended.
void Cluster::KeepUnknown(Node& node, std::vector<JobId> unknown) {
  if (!unknown.empty()) {
    std::vector<std::uint64_t> numbers;
    for (const JobId job : unknown) numbers.push_back(Value(job));
    spdlog::error(
        "event=unknown_jobs worker={} jobs={} reason=\"the journal does not know them, so their "
        "checkpoints are kept: put back the newer journal, or remove them there, "
        "STATE/checkpoints/job-N\"",
        node.name, absl::StrJoin(numbers, ","));
  }
  node.unknown_jobs = std::move(unknown);
}

}  // namespace bspnow::coordinator
