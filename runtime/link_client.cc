#include "runtime/link_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/report.h"
#include "runtime/self_start.h"

namespace bspnow {
namespace {

// The descriptor named by the environment, if it still is a link; -1 if not. A program started by
// a BSP program does not inherit the link, though it may inherit the variable.
int LinkFromEnvironment() {
  const char* text = getenv(kLinkVariable);
  if (text == nullptr) return -1;
  char* end = nullptr;
  const long fd = strtol(text, &end, 10);
  if (end == text || *end != '\0' || fd < 0) return -1;
  struct stat status;
  if (fstat(static_cast<int>(fd), &status) != 0 || !S_ISSOCK(status.st_mode)) return -1;
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

UniqueFd ReceiveWelcome(const UniqueFd& link, LinkWelcome& welcome) {
  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
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
    ReportFailure("the launcher did not answer; was a BSP program started twice in one process?");
  }
  if (welcome.version != kLinkVersion || received != sizeof welcome) {
    ReportFailure(
        "this program was linked with another version of libbsp (link version %u) than"
        " the launcher's (%u); compile it again with the launcher's bspcc",
        kLinkVersion, welcome.version);
  }
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    ReportFailure("the launcher sent no memory segment");
  }
  int fd;
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace

Attachment AttachToWorker() {
  const int fd = LinkFromEnvironment();
  if (fd < 0) StartUnderLauncher();
  UniqueFd link(fd);
  unsetenv(kLinkVariable);
  Say(link, LinkHello::kHello);
  LinkWelcome welcome;
  const UniqueFd memory = ReceiveWelcome(link, welcome);
  MappedRegion region = MappedRegion::Shared(memory.get(), welcome.segment_bytes);
  if (!region.valid()) {
    ReportFailure(
        "cannot map %llu GiB of address space for communication: %s; no memory is"
        " reserved by that, so raise the limit (ulimit -v unlimited)",
        static_cast<unsigned long long>(welcome.segment_bytes >> 30), strerror(errno));
  }
  madvise(region.data(), region.bytes(), MADV_DONTFORK);  // A forked child is no BSP process.
  Attachment attachment{.pid = Pid{welcome.pid},
                        .processors = welcome.processors,
                        .segment = Segment(static_cast<MappedRegion&&>(region)),
                        .link = static_cast<UniqueFd&&>(link)};
  return attachment;
}

void NoteBegin(const UniqueFd& link) { Say(link, LinkHello::kBegin); }

}  // namespace bspnow
