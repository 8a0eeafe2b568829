#include "coordinator/core/caller.h"

#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {
namespace {

bool IsOwner(const Caller& caller, const std::string& owner) {
  return caller.May(Scope::kAdmin) || caller.user == owner;
}

}  // namespace

absl::Status TakeOwnership(const Caller& caller, proto::JobSpec& spec) {
  if (spec.user().empty()) spec.set_user(caller.user);
  if (IsOwner(caller, spec.user())) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("user ", caller.user,
                                                  " may not submit a job of user ", spec.user(),
                                                  "; only an administrator may"));
}

absl::Status CheckOwner(const Caller& caller, const absl::StatusOr<std::string>& owner,
                        std::uint64_t job) {
  if (!owner.ok()) return owner.status();
  if (IsOwner(caller, *owner)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("job ", job, " is of user ", *owner,
                                                  ", and you are ", caller.user,
                                                  "; its owner or an administrator may do that"));
}

absl::Status LimitAccounting(const Caller& caller, proto::ListJobsRequest& request) {
  if (!request.accounting() || caller.May(Scope::kAdmin)) return absl::OkStatus();
  if (request.user().empty()) request.set_user(caller.user);
  if (request.user() == caller.user) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("what jobs of user ", request.user(),
                                                  " have used is for that user and for ",
                                                  "administrators, and you are ", caller.user));
}

void HideFrom(const Caller& caller, proto::Job& job) {
  if (IsOwner(caller, job.spec().user())) return;
  proto::JobSpec& spec = *job.mutable_spec();
  spec.clear_arguments();
  spec.clear_environment();
  spec.clear_files();
  spec.clear_directory();
  spec.clear_input();
  spec.clear_output();
  spec.mutable_program()->clear_sha256();
  if (job.state() != proto::WAITING) job.clear_reason();
  job.clear_files_lost();
  job.clear_losses();
  for (proto::Placement& place : *job.mutable_placement()) place.clear_os_pids();
  for (proto::BarrierWait& wait : *job.mutable_barrier_waits())
    for (proto::LateProcess& late : *wait.mutable_late()) late.clear_os_pid();
  job.clear_cpu_ns();
  job.clear_peak_memory_bytes();
  job.mutable_checkpoints()->clear_last_failure();
  job.DiscardUnknownFields();  // A newer client may have sent what a newer coordinator would hide.
}

void HideFrom(const Caller& caller, proto::Node& node) {
  if (!caller.May(Scope::kAdmin) && !node.reason_for_users().empty())
    node.set_reason(node.reason_for_users());
  node.clear_reason_for_users();
}

}  // namespace bspnow::coordinator
