#include "coordinator/attachments.h"

#include <utility>

#include <absl/strings/str_cat.h>

namespace bspnow {

absl::Status Attachments::Attach(JobId job, std::shared_ptr<AttachedClient> client) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end())
    return absl::FailedPreconditionError(
        absl::StrCat("job ", Value(job),
                     " was not submitted to be attached, or has ended; "
                     "`bsp logs -f` shows what it prints"));
  if (found->second.client)
    return absl::FailedPreconditionError(
        absl::StrCat("job ", Value(job), " has its client already"));
  found->second.client = std::move(client);
  return absl::OkStatus();
}

bool Attachments::IsClient(JobId job, const AttachedClient* client) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && found->second.client.get() == client;
}

absl::Status Attachments::OnInput(JobId job, InputChunk chunk) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return absl::OkStatus();  // Has ended meanwhile.
  Attachment& attachment = found->second;
  if (chunk.data.size() > kInputBytesMax)
    return absl::InvalidArgumentError(
        absl::StrCat("input comes in chunks of at most ", kInputBytesMax, " bytes"));
  if (attachment.ended) return absl::InvalidArgumentError("input came after its end");
  if (attachment.unacknowledged && !chunk.data.empty())
    return absl::InvalidArgumentError("input came before the last was taken");
  attachment.unacknowledged |= !chunk.data.empty();
  attachment.ended = chunk.end;
  attachment.kept.push_back(std::move(chunk));
  return absl::OkStatus();
}

void Attachments::OnStarted(JobId job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  Attachment& attachment = found->second;
  attachment.started = true;
  const bool end_was_sent = attachment.ended && attachment.kept.empty();
  if (end_was_sent) attachment.kept.push_back({.data = "", .end = true});
}

void Attachments::OnStopped(JobId job) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) found->second.started = false;
}

std::vector<InputChunk> Attachments::TakeInput(JobId job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || !found->second.started) return {};
  return std::exchange(found->second.kept, {});
}

void Attachments::OnInputTaken(JobId job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  found->second.unacknowledged = false;
  if (found->second.client) found->second.client->InputTaken();
}

std::vector<JobId> Attachments::TakeAbandoned(std::uint64_t now_ns) {
  std::vector<JobId> abandoned;
  for (auto& [job, attachment] : jobs_) {
    if (attachment.client || attachment.attach_by_ns > now_ns) continue;
    attachment.attach_by_ns = ~std::uint64_t{0};
    abandoned.push_back(job);
  }
  return abandoned;
}

}  // namespace bspnow
