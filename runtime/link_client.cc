#include "runtime/link_client.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/report.h"
#include "runtime/self_start.h"

namespace bspnow {
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

void Say(const UniqueFd& link, LinkHello::Kind kind) {
  const LinkHello hello{.magic = kLinkMagic,
                        .version = kLinkVersion,
                        .kind = kind,
                        .os_pid = static_cast<std::uint32_t>(getpid())};
  if (send(link.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    ReportFailure("lost the connection to the launcher: %s", strerror(errno));
  }
}

/// The descriptors that come with a LinkWelcome.
struct WelcomeFds {
  UniqueFd memory;
  UniqueFd doorbell;
};

WelcomeFds ReceiveWelcome(const UniqueFd& link, LinkWelcome& welcome) {
  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t received;
  do {
    received = recvmsg(link.get(), &message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < static_cast<ssize_t>(2 * sizeof(std::uint32_t)) || welcome.magic != kLinkMagic) {
    ReportFailure("the launcher did not answer: %s",
                  received < 0 ? strerror(errno) : "it has closed the link");
  }
  if (welcome.version != kLinkVersion || received != sizeof welcome) {
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
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    ReportFailure("the launcher sent no memory segment");
  }
  int fds[2] = {-1, -1};
  memcpy(fds, CMSG_DATA(header), std::min(sizeof fds, header->cmsg_len - CMSG_LEN(0)));
  return WelcomeFds{.memory = UniqueFd(fds[0]), .doorbell = UniqueFd(fds[1])};
}

}  // namespace

Attachment AttachToWorker() {
  const int fd = LinkFromEnvironment();
  if (fd < 0) StartUnderLauncher();
  UniqueFd link(fd);
  unsetenv(kLinkVariable);
  unsetenv(kSelfStartVariable);
  // Its parent may be a script or a debugger, which dies with the launcher; so does this process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Say(link, LinkHello::kHello);
  LinkWelcome welcome;
  WelcomeFds fds = ReceiveWelcome(link, welcome);
  MappedRegion region = MappedRegion::Shared(fds.memory.get(), welcome.segment_bytes);
  if (!region.valid()) {
    ReportFailure(
        "cannot map %llu GiB of address space for communication: %s; no memory is reserved by"
        " that: raise the limit (ulimit -v unlimited), or set BSP_ADDRESS_SPACE to what may be"
        " mapped, as in 16G (for valgrind)",
        static_cast<unsigned long long>(welcome.segment_bytes >> 30), strerror(errno));
  }
  madvise(region.data(), region.bytes(), MADV_DONTFORK);  // A forked child is no BSP process.
  madvise(region.data(), region.bytes(), MADV_DONTDUMP);  // A core file would fill all the holes.
  const SegmentLayout layout = reinterpret_cast<const NodeHeader*>(region.data())->layout;
  Attachment attachment{.pid = Pid{welcome.pid},
                        .processors = welcome.processors,
                        .segment = Segment(static_cast<MappedRegion&&>(region), layout),
                        .link = static_cast<UniqueFd&&>(link),
                        .doorbell = static_cast<UniqueFd&&>(fds.doorbell)};
  return attachment;
}

void NoteBegin(const UniqueFd& link) { Say(link, LinkHello::kBegin); }

}  // namespace bspnow
