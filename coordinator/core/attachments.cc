#include "coordinator/core/attachments.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {

void Attachments::Await(JobId job, Patience patience, std::uint64_t now_ns) {
  Attachment& attachment = jobs_[job];
  attachment.attach_by_ns = now_ns + patience.attach_ns;
  attachment.reconnect_ns = patience.reconnect_ns;
}

absl::Status Attachments::Attach(JobId job, std::shared_ptr<AttachedClient> client) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end())
    return absl::FailedPreconditionError(
        absl::StrCat("job ", Value(job),
                     " was not submitted to be attached, or has ended; "
                     "`bsp logs -f` shows what it prints"));
  const auto earlier = std::exchange(found->second.client, std::move(client));
  if (earlier) earlier->Replaced();
  return absl::OkStatus();
}

bool Attachments::IsClient(JobId job, const AttachedClient* client) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && found->second.client.get() == client;
}

void Attachments::OnBroken(JobId job, const AttachedClient* client, std::uint64_t now_ns) {
  if (!IsClient(job, client)) return;
  Attachment& attachment = jobs_.at(job);
  attachment.client.reset();
  attachment.attach_by_ns = now_ns + attachment.reconnect_ns;
}

absl::Status Attachments::OnInput(JobId job, InputChunk chunk) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return absl::OkStatus();  // Has ended meanwhile.
  Attachment& attachment = found->second;
  if (chunk.data.size() > kInputBytesMax)
    return absl::InvalidArgumentError(
        absl::StrCat("input comes in chunks of at most ", kInputBytesMax, " bytes"));
  const std::uint64_t end = chunk.offset + chunk.data.size();
  if (!chunk.data.empty() && end <= attachment.received_bytes) {
    // What pid 0 lacks of it is on its way there.
    if (end <= attachment.taken_bytes && attachment.client)
      attachment.client->InputTaken(attachment.taken_bytes);
    return absl::OkStatus();
  }
  if (attachment.ended && chunk.end) return absl::OkStatus();
  if (attachment.ended) return absl::InvalidArgumentError("input came after its end");
  if (attachment.received_bytes > attachment.taken_bytes && !chunk.data.empty())
    return absl::InvalidArgumentError("input came before the last was taken");
  if (!chunk.data.empty()) attachment.received_bytes = end;
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
  if (end_was_sent) attachment.kept.push_back({.end = true});
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

void Attachments::OnInputTaken(JobId job, std::uint64_t bytes) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  Attachment& attachment = found->second;
  attachment.taken_bytes = std::max(attachment.taken_bytes, bytes);
  if (attachment.client) attachment.client->InputTaken(attachment.taken_bytes);
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

}  // namespace bspnow::coordinator
