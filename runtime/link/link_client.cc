#include "runtime/link/link_client.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "runtime/link/report.h"
#include "runtime/link/self_start.h"

namespace bspnow::runtime {
namespace {

// The descriptor that the launcher named; -1 if this process was started without one. Who was
// started by a launcher but has lost the link must not start another launcher: it would go on so.
int LinkFromEnvironment() {
  const char* text = getenv(kLinkVariable);
  if (text == nullptr) return -1;
  char* end = nullptr;
  const long fd = strtol(text, &end, 10);
  struct stat status;
  if (end == text || *end != '\0' || fd < 0 || fstat(static_cast<int>(fd), &status) != 0 ||
      !S_ISSOCK(status.st_mode)) {
    ReportFailure(
        "the program has closed descriptor %s, which links it to its launcher; leave it"
        " open until the first BSP call (or, if bsprun did not start this program, unset"
        " %s)",
        text, kLinkVariable);
  }
  return static_cast<int>(fd);
}

void Send(const KnownDescriptor& link, const void* message, std::size_t bytes) {
  if (!link.StillOurs()) {
    ReportFailure("the program has closed descriptor %d, which links it to its launcher",
                  link.number());
  }
  if (send(link.number(), message, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) {
    ReportFailure("lost the connection to the launcher: %s", strerror(errno));
  }
}

void Say(const KnownDescriptor& link, LinkHello::Kind kind) {
  const LinkHello hello{.magic = kLinkMagic,
                        .version = kLinkVersion,
                        .kind = kind,
                        .os_pid = static_cast<std::uint32_t>(getpid())};
  Send(link, &hello, sizeof hello);
}

constexpr int kDescriptorsMax = 3;
constexpr std::uint64_t kPollNs = 100'000;  // Then sleep until the answer comes.

/// One message of the worker's, and the descriptors that came with it.
struct Answer {
  ssize_t bytes;  ///< As recvmsg returns them.
  int error;      ///< errno, if bytes is below 0.
  bool lost;      ///< Some descriptors did not get a number.
  UniqueFd fds[kDescriptorsMax];
};

Answer Receive(const KnownDescriptor& link, void* to, std::size_t room, int flags) {
  iovec part{to, room};
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsMax * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  Answer answer{};
  do {
    answer.bytes = recvmsg(link.number(), &message, flags | MSG_CMSG_CLOEXEC);
    answer.error = errno;
  } while (answer.bytes < 0 && answer.error == EINTR);
  if (answer.bytes < 0) return answer;
  answer.lost = (message.msg_flags & MSG_CTRUNC) != 0;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return answer;
  int fds[kDescriptorsMax] = {-1, -1, -1};
  memcpy(fds, CMSG_DATA(header), std::min(sizeof fds, header->cmsg_len - CMSG_LEN(0)));
  for (int i = 0; i < kDescriptorsMax; ++i) answer.fds[i] = UniqueFd(fds[i]);
  return answer;
}

const char* ReasonOf(const Answer& answer) {
  return answer.bytes < 0 ? strerror(answer.error)
                          : "it has closed the link, as it does if it can hand over no descriptors"
                            " for 10 s: raise its ulimit -n";
}

Answer ReceiveWelcome(const KnownDescriptor& link, LinkWelcome& welcome) {
  Answer answer = Receive(link, &welcome, sizeof welcome, 0);
  if (answer.bytes < static_cast<ssize_t>(2 * sizeof(std::uint32_t)) ||
      welcome.magic != kLinkMagic) {
    ReportFailure("the launcher did not answer: %s", ReasonOf(answer));
  }
  if (welcome.version != kLinkVersion || answer.bytes != sizeof welcome) {
    ReportFailure(
        "this program was linked with another version of libbsp (link version %u) than"
        " the launcher's (%u); compile it again with the launcher's bspcc",
        kLinkVersion, welcome.version);
  }
  if (welcome.pid == kRefusedPid) {
    ReportFailure(
        "another BSP program has joined the job in place of this process before; run one"
        " BSP program a process, and start further ones with a bsprun of their own");
  }
  if (!answer.fds[0].valid()) ReportFailure("the launcher sent no memory segment");
  return answer;
}

Attachment Attach(UniqueFd descriptor) {
  const KnownDescriptor link = KnownDescriptor::OutOfTheWay(static_cast<UniqueFd&&>(descriptor));
  // Its parent may be a script or a debugger, which dies with the launcher; so does this process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Say(link, LinkHello::kHello);
  LinkWelcome welcome;
  Answer answer = ReceiveWelcome(link, welcome);
  MappedRegion region = MappedRegion::Shared(answer.fds[0].get(), welcome.segment_bytes);
  if (!region.valid()) {
    ReportFailure(
        "cannot map %llu GiB of address space for communication: %s; no memory is reserved by"
        " that: raise the limit (ulimit -v unlimited), or set BSP_ADDRESS_SPACE to what may be"
        " mapped, as in 16G, or 500M for valgrind, which reads all of it",
        static_cast<unsigned long long>(welcome.segment_bytes >> 30), strerror(errno));
  }
  madvise(region.data(), region.bytes(), MADV_DONTFORK);  // A forked child is no BSP process.
  madvise(region.data(), region.bytes(), MADV_DONTDUMP);  // A core file would fill all the holes.
  const SegmentLayout layout = reinterpret_cast<const NodeHeader*>(region.data())->layout;
  Attachment attachment{.pid = Pid{welcome.pid},
                        .processors = welcome.processors,
                        .segment = Segment(static_cast<MappedRegion&&>(region), layout),
                        .link = link,
                        .doorbell = {},
                        .mailbox = {}};
  if (answer.fds[1].valid()) {
    attachment.doorbell = KnownDescriptor::OutOfTheWay(static_cast<UniqueFd&&>(answer.fds[1]));
  }
  if (answer.fds[2].valid()) {
    attachment.mailbox = KnownDescriptor::OutOfTheWay(static_cast<UniqueFd&&>(answer.fds[2]));
  }
  return attachment;
}

}  // namespace

Attachment AttachToWorker() {
  const int fd = LinkFromEnvironment();
  if (fd < 0) StartUnderLauncher();
  unsetenv(kLinkVariable);
  unsetenv(kSelfStartVariable);
  return Attach(UniqueFd(fd));
}

Attachment AttachAgain(UniqueFd link) { return Attach(static_cast<UniqueFd&&>(link)); }

void NoteBegin(const KnownDescriptor& link) { Say(link, LinkHello::kBegin); }

PlaceOfImages AskForImages(const KnownDescriptor& link, LinkHello::Kind kind) {
  Say(link, kind);
  LinkImagePlace place{};
  Answer answer{};
  const std::uint64_t start_ns = NowNs();
  do {
    answer = Receive(link, &place, sizeof place, MSG_DONTWAIT);
  } while (answer.bytes < 0 && answer.error == EAGAIN && NowNs() - start_ns < kPollNs &&
           sched_yield() == 0);
  if (answer.bytes < 0 && answer.error == EAGAIN) answer = Receive(link, &place, sizeof place, 0);
  if (answer.bytes != sizeof place || place.magic != kLinkMagic) {
    ReportFailure("the launcher gave no place for an image: %s", ReasonOf(answer));
  }
  return {.descriptor = static_cast<UniqueFd&&>(answer.fds[0]), .lost = answer.lost};
}

void ReportNoImage(const KnownDescriptor& link, std::uint64_t checkpoint, const char* reason) {
  LinkImageReport report{.magic = kLinkMagic,
                         .version = kLinkVersion,
                         .kind = LinkImageReport::kKind,
                         .written = 0,
                         .checkpoint = checkpoint,
                         .file_bytes = 0,
                         .cpu_ns = 0,
                         .write_ns = 0,
                         .reason = {}};
  snprintf(report.reason, sizeof report.reason, "%s", reason);
  Send(link, &report, sizeof report);
}

}  // namespace bspnow::runtime
