#include "worker/host/host_channel.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/send_descriptors.h"

namespace bspnow::worker {
namespace {

constexpr std::size_t kPlanDescriptorsMax = 5;

absl::Status Malformed(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed ", what, " between worker and host"));
}

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat(what, ": ", strerror(errno)));
}

}  // namespace

// ---- The plan -----------------------------------------------------------------------------------

absl::StatusOr<proto::HostPlan> DecodePlan(std::string_view bytes) {
  proto::HostPlan plan;
  if (!plan.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      plan.processes().empty() || plan.processes_size() > static_cast<int>(kProcessesOfNodeMax) ||
      plan.arguments().empty()) {
    return Malformed("plan");
  }
  for (const proto::HostedProcess& process : plan.processes()) {
    if (process.pid() >= kProcessesMax) return Malformed("plan");
  }
  return plan;
}

absl::Status SendPlan(int socket, proto::HostPlan plan, const PlanDescriptors& descriptors) {
  plan.set_has_doorbell(descriptors.doorbell >= 0);
  plan.set_has_mailbox(descriptors.mailbox >= 0);
  plan.set_has_input(descriptors.input >= 0);
  const std::string bytes = plan.SerializeAsString();
  if (bytes.size() > kHostPlanBytesMax) {
    return absl::ResourceExhaustedError("arguments and environment are too long");
  }
  const UniqueFd text(memfd_create("bspnow-plan", MFD_CLOEXEC));
  if (!text.valid() ||
      pwrite(text.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Failed("writing the plan of a job");
  }
  int fds[kPlanDescriptorsMax] = {text.get(), descriptors.segment};
  std::size_t count = 2;
  for (const int fd : {descriptors.doorbell, descriptors.mailbox, descriptors.input}) {
    if (fd >= 0) fds[count++] = fd;
  }
  const std::byte packet[1] = {};  // Descriptors do not travel alone.
  if (SendDescriptors(socket, packet, std::span(fds).first(count), IfFull::kWait) < 0)
    return Failed("sending the plan of a job");
  return absl::OkStatus();
}

namespace {

absl::StatusOr<proto::HostPlan> ReadPlan(const UniqueFd& text) {
  struct stat status;
  if (fstat(text.get(), &status) != 0) return Failed("reading the plan");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes == 0 || bytes > kHostPlanBytesMax) return Malformed("plan");
  std::string plan(bytes, '\0');
  if (pread(text.get(), plan.data(), bytes, 0) != status.st_size) return Failed("reading the plan");
  return DecodePlan(plan);
}

}  // namespace

absl::StatusOr<ReceivedPlan> ReceivePlan(int socket) {
  char packet;
  iovec part{&packet, sizeof packet};
  alignas(cmsghdr) char control[CMSG_SPACE(kPlanDescriptorsMax * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0) return Failed("receiving the plan");
  std::vector<UniqueFd> fds;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int fd;
      memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  if (fds.size() < 2) return Malformed("plan");
  absl::StatusOr<proto::HostPlan> plan = ReadPlan(fds[0]);
  if (!plan.ok()) return plan.status();
  if (fds.size() != 2u + plan->has_doorbell() + plan->has_mailbox() + plan->has_input())
    return Malformed("plan");
  ReceivedPlan received;
  received.plan = std::move(*plan);
  received.segment = std::move(fds[1]);
  std::size_t next = 2;
  if (received.plan.has_doorbell()) received.doorbell = std::move(fds[next++]);
  if (received.plan.has_mailbox()) received.mailbox = std::move(fds[next++]);
  if (received.plan.has_input()) received.input = std::move(fds[next++]);
  return received;
}

// ---- Orders and events --------------------------------------------------------------------------

absl::StatusOr<proto::HostOrder> DecodeOrder(std::string_view packet) {
  proto::HostOrder order;
  if (!order.ParseFromArray(packet.data(), static_cast<int>(packet.size())) ||
      order.what_case() == proto::HostOrder::WHAT_NOT_SET) {
    return Malformed("order");
  }
  return order;
}

absl::StatusOr<proto::WorkerEvent> DecodeEvent(std::string_view packet) {
  proto::WorkerEvent event;
  if (!event.ParseFromArray(packet.data(), static_cast<int>(packet.size()))) {
    return Malformed("event");
  }
  std::uint32_t pid = 0;
  switch (event.what_case()) {
    case proto::WorkerEvent::kStarted:
      if (event.started().pids_size() > static_cast<int>(kProcessesOfNodeMax) ||
          event.started().pids_size() != event.started().os_pids_size())
        return Malformed("event");
      return event;
    case proto::WorkerEvent::kNotStarted:
    case proto::WorkerEvent::kRestoreFailed:
    case proto::WorkerEvent::kCheckpointFailed:
      return event;
    case proto::WorkerEvent::kBegun:
      pid = event.begun().pid();
      break;
    case proto::WorkerEvent::kOutput:
      pid = event.output().pid();
      if (event.output().stream() == proto::OUTPUT_STREAM_UNSPECIFIED) return Malformed("event");
      if (!proto::OutputStream_IsValid(event.output().stream())) return Malformed("event");
      break;
    case proto::WorkerEvent::kExited:
      pid = event.exited().pid();
      break;
    case proto::WorkerEvent::kCheckpointStored:
      if (event.checkpoint_stored().images().empty()) return Malformed("event");
      for (const proto::StoredImage& image : event.checkpoint_stored().images()) {
        pid = std::max(pid, image.pid());
      }
      break;
    default:
      return Malformed("event");
  }
  if (pid >= kProcessesMax) return Malformed("event");
  return event;
}

absl::StatusOr<std::optional<proto::WorkerEvent>> EventJoiner::Add(proto::WorkerEvent event) {
  if (auto begun = std::exchange(begun_, std::nullopt)) {
    proto::ProcessOutput& text = *begun->mutable_output();
    const proto::ProcessOutput& more = event.output();
    const bool follows = event.has_output() && more.pid() == text.pid() &&
                         more.stream() == text.stream() &&
                         more.offset() == text.offset() + text.text().size() &&
                         text.text().size() + more.text().size() <= kOutputTextBytesMax;
    if (!follows && event.has_output()) return Malformed("output");
    if (!follows) return event;  // The text is torn, and this was no part of it.
    text.mutable_text()->append(more.text());
    text.set_goes_on(more.goes_on());
    event = *std::move(begun);
  }
  if (!event.has_output() || !event.output().goes_on()) return event;
  begun_ = std::move(event);
  return std::nullopt;
}

}  // namespace bspnow::worker
