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
  if (table_.Find(job) == nullptr) return;
  const LiveJob* live = FindLive(job);
  const bool has_client = live != nullptr && live->attachment;
  PerformOfClient({.job = job,
                   .client = has_client ? live->attachment->last() : ClientIdentity(),
                   .how = absl::StrCat("signal ", signal)},
                  [this, job, signal] { return table_.OnSignal(job, signal, Now()); });
}

// Not each signal ends a job, and none ends it twice.
void Cluster::PerformOfClient(ClientEnd end, const std::function<JobOrders()>& act) {
  const auto is_cancelled = [this, job = end.job] {
    const JobRecord* record = table_.Find(job);
    return record != nullptr && record->cancelled();
  };
  const bool was_cancelled = is_cancelled();
  JobOrders orders = act();
  if (!was_cancelled && is_cancelled()) {
    if (end.client.user.empty()) end.client.user = table_.Find(end.job)->job().spec().user();
    ports_.ended_by_client(end);
  }
  Perform(std::move(orders));
}

void Cluster::OnClientLeft(JobId job, const AttachedClient* client) {
  LiveJob* live = FindLive(job);
  if (closed_ || live == nullptr || !live->attachment || !live->attachment->IsClient(client))
    return;
  ClientEnd end{.job = job, .client = live->attachment->last(), .how = "its client left"};
  live->attachment.reset();
  PerformOfClient(std::move(end), [this, job] { return table_.OnClientLeft(job, Now()); });
}

// Of a pause that is over a connection may tell before any timer: see Barriers::NotePause.
void Cluster::OnClientLost(JobId job, const AttachedClient* client) {
  barriers_.NotePause();
  LiveJob* live = FindLive(job);
  if (closed_ || live == nullptr || !live->attachment) return;
  live->attachment->OnBroken(client, NowNs());
  EndAbandoned();
}

void Cluster::EndAbandoned() {
  std::vector<ClientEnd> abandoned;
  for (const auto& [id, job] : LiveJobs())
    if (job->attachment && job->attachment->TakeAbandoned(NowNs()))
      abandoned.push_back(
          {.job = id, .client = job->attachment->last(), .how = "its client did not come back"});
  for (const ClientEnd& end : abandoned)
    PerformOfClient(end, [this, &end] { return table_.OnClientLeft(end.job, Now()); });
}

}  // namespace bspnow::coordinator
