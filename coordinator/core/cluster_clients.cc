// Clients that stay with their job: its input, signals, and what becomes of it when they go.
#include <utility>

#include <absl/strings/str_cat.h>
#include "coordinator/core/cluster.h"

namespace bspnow::coordinator {

absl::Status Cluster::Attach(JobId job, const std::string& submission_key,
                             std::shared_ptr<AttachedClient> client) {
  const auto record = FindJob(job);
  if (!record.ok()) return record.status();
  if ((*record)->submission_key() != submission_key)
    return absl::PermissionDeniedError(absl::StrCat(
        "job ", Value(job), " has its client already; `bsp logs -f` shows what it prints"));
  if (HasEnded(**record)) return absl::OkStatus();  // It was quick.
  LiveJob* live = FindLive(job);
  if (live == nullptr || !live->attachment)
    return absl::FailedPreconditionError(
        absl::StrCat("job ", Value(job),
                     " was not submitted to be attached, or has ended; "
                     "`bsp logs -f` shows what it prints"));
  live->attachment->Attach(std::move(client));
  return absl::OkStatus();
}

absl::Status Cluster::OnInput(JobId job, InputChunk chunk) {
  LiveJob* live = FindLive(job);
  if (live == nullptr || !live->attachment) return absl::OkStatus();  // It has ended meanwhile.
  absl::Status taken = live->attachment->OnInput(std::move(chunk));
  if (taken.ok()) Perform(SendInput(job, *live));
  return taken;
}

// Not before it is durable that the job took some: else a coordinator that comes back would start
// it again, and pid 0 would lack what its client has seen taken.
JobOrders Cluster::SendInput(JobId id, LiveJob& job) {
  const JobRecord* record = table_.Find(id);
  if (!job.attachment || record == nullptr || record->hosts().empty()) return {};
  if (job.attachment->HasBytes() && !table_.jobs().at(id).input_stored)
    return table_.OnInput(id, Now());
  for (InputChunk& chunk : job.attachment->TakeInput()) {
    proto::Order message;
    message.mutable_input()->set_job(Value(id));
    message.mutable_input()->set_epoch(record->job().epoch());
    message.mutable_input()->set_offset(chunk.offset);
    message.mutable_input()->set_data(std::move(chunk.data));
    message.mutable_input()->set_end(chunk.end);
    nodes_.Order(WorkerOf(record->hosts(0)), std::move(message));
  }
  return {};
}

void Cluster::OnSignal(JobId job, int signal) {
  if (table_.Find(job) != nullptr) Perform(table_.OnSignal(job, signal, Now()));
}

void Cluster::OnClientLeft(JobId job, const AttachedClient* client) {
  LiveJob* live = FindLive(job);
  if (closed_ || live == nullptr || !live->attachment || !live->attachment->IsClient(client))
    return;
  live->attachment.reset();
  Perform(table_.OnClientLeft(job, Now()));
}

void Cluster::OnClientLost(JobId job, const AttachedClient* client) {
  LiveJob* live = FindLive(job);
  if (closed_ || live == nullptr || !live->attachment) return;
  live->attachment->OnBroken(client, NowNs());
  EndAbandoned();
}

void Cluster::EndAbandoned() {
  std::vector<JobId> abandoned;
  for (const auto& [id, job] : LiveJobs())
    if (job->attachment && job->attachment->TakeAbandoned(NowNs())) abandoned.push_back(id);
  for (const JobId job : abandoned) Perform(table_.OnClientLeft(job, Now()));
}

}  // namespace bspnow::coordinator
