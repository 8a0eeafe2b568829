#include "worker/host_channel.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "runtime/link/link.h"

namespace bspnow {
namespace {

constexpr std::uint32_t kPlanMagic = 0x504e5342;  // "BSNP"

// Flags of kPlan's number: which descriptors follow that of the plan and that of the segment.
constexpr std::uint64_t kHasDoorbell = 1;
constexpr std::uint64_t kHasInput = 2;
constexpr std::size_t kPlanDescriptorsMax = 4;

absl::Status Malformed(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed ", what, " between worker and host"));
}

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat(what, ": ", strerror(errno)));
}

/// What comes before the text of a packet.
struct PacketHeader {
  std::uint32_t kind = 0;
  std::uint32_t pid = 0;
  std::uint64_t number = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t error_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t cpu_ns = 0;
};
static_assert(sizeof(PacketHeader) == 48);
static_assert(sizeof(PacketHeader) + kHostTextBytesMax <= kHostPacketBytesMax);

std::string Packet(const PacketHeader& header, std::string_view text) {
  std::string packet(reinterpret_cast<const char*>(&header), sizeof header);
  packet += text;
  return packet;
}

class PlanWriter {
 public:
  void Number(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Text(const std::string& text) {
    Number(text.size());
    bytes_ += text;
  }
  void Texts(const std::vector<std::string>& texts) {
    Number(texts.size());
    for (const std::string& text : texts) Text(text);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Once a read fails, all later ones do, and give empty values.
class PlanReader {
 public:
  explicit PlanReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t Number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) return Fail();
    memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string Text() {
    const std::uint64_t bytes = Number();
    if (bytes > rest_.size()) {
      Fail();
      return {};
    }
    std::string text(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
    return text;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (std::uint64_t left = Count(); left > 0 && good_; --left) texts.push_back(Text());
    return texts;
  }
  /// Of items that take at least a number each, and so cannot be more than there are bytes for.
  std::uint64_t Count() {
    const std::uint64_t count = Number();
    return count <= rest_.size() / sizeof(std::uint64_t) ? count : Fail();
  }
  bool at_end() const { return good_ && rest_.empty(); }
  bool good() const { return good_; }

 private:
  std::uint64_t Fail() {
    good_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

// ---- The plan -----------------------------------------------------------------------------------

std::string EncodePlan(const HostPlan& plan) {
  PlanWriter out;
  out.Number(kPlanMagic);
  out.Text(plan.program);
  out.Texts(plan.arguments);
  out.Texts(plan.environment);
  out.Text(plan.directory);
  out.Number(plan.pids.size());
  for (const Pid pid : plan.pids) out.Number(Value(pid));
  out.Number(plan.processors);
  out.Number(plan.memory_bytes);
  out.Number(plan.segment_bytes);
  out.Number(plan.interactive ? 1 : 0);
  out.Text(plan.job_directory);
  out.Number(plan.given.size());
  for (const GivenFile& file : plan.given) {
    out.Text(file.name);
    out.Number(file.bytes);
    out.Number(static_cast<std::uint64_t>(file.changed_ns));
  }
  out.Text(plan.image_directory);
  out.Number(plan.resumed.size());
  for (const ResumedProcess& process : plan.resumed) {
    out.Texts(process.arguments);
    out.Text(process.areas_image);
    out.Number(process.output_bytes);
    out.Number(process.error_bytes);
    out.Text(process.output_line);
    out.Text(process.error_line);
  }
  return out.Take();
}

namespace {

void ReadCheckpointPart(PlanReader& in, HostPlan& plan) {
  plan.job_directory = in.Text();
  for (std::uint64_t left = in.Count(); left > 0 && in.good(); --left) {
    GivenFile file{.name = in.Text(), .bytes = 0, .changed_ns = 0};
    file.bytes = in.Number();
    file.changed_ns = static_cast<std::int64_t>(in.Number());
    plan.given.push_back(std::move(file));
  }
  plan.image_directory = in.Text();
  for (std::uint64_t left = in.Count(); left > 0 && in.good(); --left) {
    ResumedProcess process;
    process.arguments = in.Texts();
    process.areas_image = in.Text();
    process.output_bytes = in.Number();
    process.error_bytes = in.Number();
    process.output_line = in.Text();
    process.error_line = in.Text();
    plan.resumed.push_back(std::move(process));
  }
}

}  // namespace

absl::StatusOr<HostPlan> DecodePlan(std::string_view bytes) {
  PlanReader in(bytes);
  HostPlan plan;
  if (in.Number() != kPlanMagic) return Malformed("plan");
  plan.program = in.Text();
  plan.arguments = in.Texts();
  plan.environment = in.Texts();
  plan.directory = in.Text();
  for (std::uint64_t left = in.Count(); left > 0 && in.good(); --left) {
    const std::uint64_t pid = in.Number();
    if (pid >= kProcessesMax) return Malformed("plan");
    plan.pids.push_back(Pid{static_cast<std::uint32_t>(pid)});
  }
  plan.processors = static_cast<std::uint32_t>(in.Number());
  plan.memory_bytes = in.Number();
  plan.segment_bytes = in.Number();
  plan.interactive = in.Number() != 0;
  ReadCheckpointPart(in, plan);
  if (!in.at_end() || plan.pids.empty() || plan.arguments.empty()) return Malformed("plan");
  if (!plan.resumed.empty() && plan.resumed.size() != plan.pids.size()) return Malformed("plan");
  return plan;
}

absl::Status SendPlan(int socket, const HostPlan& plan, const PlanDescriptors& descriptors) {
  const std::string bytes = EncodePlan(plan);
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
  std::uint64_t flags = 0;
  if (descriptors.doorbell >= 0) {
    flags |= kHasDoorbell;
    fds[count++] = descriptors.doorbell;
  }
  if (descriptors.input >= 0) {
    flags |= kHasInput;
    fds[count++] = descriptors.input;
  }
  std::string packet = Encode(HostOrder{.kind = HostOrder::kPlan, .number = flags});
  iovec part{packet.data(), packet.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof(int));
  memcpy(CMSG_DATA(header), fds, count * sizeof(int));
  if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) return Failed("sending the plan of a job");
  return absl::OkStatus();
}

namespace {

absl::StatusOr<HostPlan> ReadPlan(const UniqueFd& text) {
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
  char packet[sizeof(PacketHeader)];
  iovec part{packet, sizeof packet};
  alignas(cmsghdr) char control[CMSG_SPACE(kPlanDescriptorsMax * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (n < 0) return Failed("receiving the plan");
  std::vector<UniqueFd> fds;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int fd;
      memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  const absl::StatusOr<HostOrder> order =
      DecodeOrder(std::string_view(packet, static_cast<std::size_t>(n)));
  if (!order.ok()) return order.status();
  const std::size_t expected = 2 + ((order->number & kHasDoorbell) != 0 ? 1u : 0u) +
                               ((order->number & kHasInput) != 0 ? 1u : 0u);
  if (order->kind != HostOrder::kPlan || fds.size() != expected) return Malformed("plan");
  absl::StatusOr<HostPlan> plan = ReadPlan(fds[0]);
  if (!plan.ok()) return plan.status();
  ReceivedPlan received;
  received.plan = std::move(*plan);
  received.segment = std::move(fds[1]);
  std::size_t next = 2;
  if ((order->number & kHasDoorbell) != 0) received.doorbell = std::move(fds[next++]);
  if ((order->number & kHasInput) != 0) received.input = std::move(fds[next++]);
  return received;
}

// ---- Orders and reports -------------------------------------------------------------------------

std::string Encode(const HostOrder& order) {
  return Packet(PacketHeader{.kind = order.kind, .number = order.number},
                std::string_view(order.text).substr(0, kHostTextBytesMax));
}

std::string Encode(const HostReport& report) {
  return Packet({.kind = report.kind,
                 .pid = Value(report.pid),
                 .number = report.number,
                 .output_bytes = report.output_bytes,
                 .error_bytes = report.error_bytes,
                 .file_bytes = report.file_bytes,
                 .cpu_ns = report.cpu_ns},
                std::string_view(report.text).substr(0, kHostTextBytesMax));
}

absl::StatusOr<HostOrder> DecodeOrder(std::string_view packet) {
  PacketHeader header;
  if (packet.size() < sizeof header || packet.size() > sizeof header + kHostTextBytesMax) {
    return Malformed("order");
  }
  memcpy(&header, packet.data(), sizeof header);
  if (header.kind < HostOrder::kPlan || header.kind > HostOrder::kRoom) return Malformed("order");
  if (header.kind != HostOrder::kRoom && packet.size() != sizeof header) return Malformed("order");
  return HostOrder{.kind = static_cast<HostOrder::Kind>(header.kind),
                   .number = header.number,
                   .text = std::string(packet.substr(sizeof header))};
}

absl::StatusOr<HostReport> DecodeReport(std::string_view packet) {
  PacketHeader header;
  if (packet.size() < sizeof header || packet.size() > sizeof header + kHostTextBytesMax) {
    return Malformed("report");
  }
  memcpy(&header, packet.data(), sizeof header);
  if (header.kind < HostReport::kStarted || header.kind > HostReport::kNotResumed) {
    return Malformed("report");
  }
  if (header.pid >= kProcessesMax) return Malformed("report");
  const auto stream = static_cast<Stream>(header.number);
  if (header.kind == HostReport::kOutput && stream != Stream::kOutput && stream != Stream::kError) {
    return Malformed("report");
  }
  return HostReport{.kind = static_cast<HostReport::Kind>(header.kind),
                    .pid = Pid{header.pid},
                    .number = header.number,
                    .text = std::string(packet.substr(sizeof header)),
                    .output_bytes = header.output_bytes,
                    .error_bytes = header.error_bytes,
                    .file_bytes = header.file_bytes,
                    .cpu_ns = header.cpu_ns};
}

}  // namespace bspnow
