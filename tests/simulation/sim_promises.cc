#include "tests/simulation/sim_promises.h"

#include <algorithm>

namespace bspnow {

using coordinator::HasEnded;
using coordinator::IdOf;

void SimPromises::Fail(JobId job, const std::string& what) const {
  failed_("job " + std::to_string(Value(job)) + " " + what);
}

// One that was over is not to run again either.
void SimPromises::OnCancelled(const JobRecord& record) {
  answered_.insert(IdOf(record));
  if (record.cancelled()) cancelled_.insert(IdOf(record));
}

void SimPromises::OnSuspended(JobId job, std::uint64_t asked) {
  if (last_resume_[job] < asked) suspended_.insert(job);
}

std::uint64_t SimPromises::OnResume(JobId job) {
  suspended_.erase(job);
  return last_resume_[job] = ++asked_;
}

void SimPromises::OnResumed(JobId job, std::uint64_t asked) {
  if (last_suspension_[job] < asked) resumed_.insert(job);
}

std::uint64_t SimPromises::OnDrain(const std::string& node) {
  drained_.erase(node);
  return last_drain_[node] = ++asked_;
}

void SimPromises::OnDrained(const std::string& node, std::uint64_t asked, Drain drain) {
  if (last_drain_[node] == asked) drained_[node] = drain;
}

std::uint64_t SimPromises::OnRename(JobId job) {
  names_.erase(job);
  return last_name_[job] = ++asked_;
}

void SimPromises::OnRenamed(JobId job, std::uint64_t asked, const std::string& name) {
  if (last_name_[job] == asked) names_[job] = name;
}

void SimPromises::OnPutBack() {
  answered_.clear();
  cancelled_.clear();
  suspended_.clear();
  resumed_.clear();
  drained_.clear();
  names_.clear();
  last_drain_.clear();  // What is under way is of the journal that is gone.
  last_name_.clear();
}

void SimPromises::OnStart(JobId job) {
  if (answered_.contains(job)) Fail(job, "starts after its cancellation was acknowledged");
  if (suspended_.contains(job)) Fail(job, "starts though it is suspended, and nobody resumes it");
}

void SimPromises::OnWritten(const JobRecord& record) {
  if (record.job().state() != proto::SUSPENDED) return;
  resumed_.erase(IdOf(record));  // Once more.
  last_suspension_[IdOf(record)] = ++asked_;
}

void SimPromises::OnPlaced(const JobRecord& record) {
  for (const proto::Placement& place : record.job().placement()) {
    const auto drained = drained_.find(place.node());
    if (drained != drained_.end() && drained->second == Drain::kDrain)
      Fail(IdOf(record), "is placed on " + place.node() + ", which is drained");
  }
}

void SimPromises::OnEnded(const JobRecord& record) {
  if (cancelled_.contains(IdOf(record)) && record.job().state() != proto::CANCELLED)
    Fail(IdOf(record), "was cancelled, and ends otherwise");
}

void SimPromises::OnFound(const StoredState& stored) {
  for (const JobRecord& record : stored.jobs) {
    const JobId job = IdOf(record);
    const proto::JobState state = record.job().state();
    if (cancelled_.contains(job) && !record.cancelled())
      Fail(job, "was cancelled, and a restart has forgotten that");
    const bool over = HasEnded(record) || state == proto::ENDING || record.cancelled();
    if (suspended_.contains(job) && !over && state != proto::SUSPENDED)
      Fail(job, "was suspended, and a restart has forgotten that");
    if (resumed_.contains(job) && state == proto::SUSPENDED)
      Fail(job, "was resumed, and a restart has forgotten that");
    const auto name = names_.find(job);
    if (name != names_.end() && name->second != record.job().spec().name())
      Fail(job, "was named anew, and a restart has forgotten that");
  }
  for (const auto& [node, drain] : drained_) {
    const auto& nodes = stored.drained_nodes;
    const bool found = std::find(nodes.begin(), nodes.end(), node) != nodes.end();
    if (found != (drain == Drain::kDrain))
      failed_(node + (found ? " is drained, and was said not to be" : " was said to be drained"));
  }
}

}  // namespace bspnow
