// Reports the state of a daemon to systemd: one datagram to the socket that $NOTIFY_SOCKET names,
// as sd_notify(3) specifies; without libsystemd.
#ifndef NET_SYSTEMD_NOTIFY_H_
#define NET_SYSTEMD_NOTIFY_H_

#include <string_view>

#include <absl/status/status.h>

namespace bspnow {

/// `state` is as in sd_notify(3): "READY=1", "STOPPING=1", "STATUS=...". Ok without doing anything
/// if $NOTIFY_SOCKET is not set, that is, if systemd does not wait for it.
absl::Status NotifySystemd(std::string_view state);

}  // namespace bspnow

#endif  // NET_SYSTEMD_NOTIFY_H_
