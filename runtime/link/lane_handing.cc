#include "runtime/link/lane_handing.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/clock.h"
#include "base/units.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kWaitMs = 1000;
constexpr std::size_t kMax = kLanesMax + kBulkLanesMax;

struct Handed {
  ssize_t bytes;  ///< As recvmsg returns them.
  LaneHanding message;
  std::uint32_t count;  ///< Of valid descriptors, which come first.
  UniqueFd lanes[kMax];
  bool whole;  ///< Nothing was cut off.
};

void ReceiveOne(int mailbox, Handed& handed) {
  iovec part{&handed.message, sizeof handed.message};
  alignas(cmsghdr) char control[CMSG_SPACE(kMax * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_LEN(kMax * sizeof(int));  // Padding has room for one more.
  handed.bytes = recvmsg(mailbox, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (handed.bytes < 0) return;
  handed.whole = (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) == 0;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return;
  int fds[kMax];
  const std::size_t bytes = std::min(sizeof fds, header->cmsg_len - CMSG_LEN(0));
  memcpy(fds, CMSG_DATA(header), bytes);
  handed.count = static_cast<std::uint32_t>(bytes / sizeof(int));
  for (std::uint32_t i = 0; i < handed.count; ++i) handed.lanes[i] = UniqueFd(fds[i]);
}

// Another process may be faster at the mailbox, though there is a message for this one, too.
bool AwaitOne(int mailbox, Handed& handed) {
  const std::uint64_t end_ns = NowNs() + kWaitMs * kNsPerMs;
  for (;;) {
    ReceiveOne(mailbox, handed);
    if (handed.bytes >= 0) return handed.bytes > 0;
    if (errno != EAGAIN && errno != EINTR) return false;
    const std::uint64_t now_ns = NowNs();
    if (now_ns >= end_ns) return false;
    pollfd wait{.fd = mailbox, .events = POLLIN, .revents = 0};
    poll(&wait, 1, static_cast<int>((end_ns - now_ns) / kNsPerMs) + 1);
  }
}

}  // namespace

LanesTaken TakeLanes(const KnownDescriptor& mailbox, const LanesWanted& wanted,
                     KnownDescriptor* lanes, HandedBulkLanes& bulk) {
  Handed handed{};
  if (!mailbox.StillOurs() || !AwaitOne(mailbox.number(), handed)) return LanesTaken::kNone;
  if (handed.bytes != sizeof handed.message) return LanesTaken::kNone;
  if (!handed.whole) return LanesTaken::kNoDescriptors;
  if (handed.message.hosts != wanted.others + 1 || handed.message.bulk_lanes != wanted.bulk_lanes ||
      handed.count != wanted.others + wanted.bulk_lanes)
    return LanesTaken::kNone;
  for (std::uint32_t i = 0; i < wanted.others; ++i) {
    lanes[i] = KnownDescriptor::OutOfTheWay(static_cast<UniqueFd&&>(handed.lanes[i]));
  }
  for (std::uint32_t i = 0; i < wanted.bulk_lanes; ++i)
    bulk.lanes[i] = static_cast<UniqueFd&&>(handed.lanes[wanted.others + i]);
  bulk.trusted = handed.message.trusted != 0;
  return LanesTaken::kAll;
}

}  // namespace bspnow::runtime
