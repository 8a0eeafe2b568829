// Accepts connections on a loop. Running out of descriptors pauses it; it never ends the daemon.
// The last eighth of them is for files: connections that would take those are closed at once, so
// that a crowd of them does not make a journal or a log fail.
#ifndef NET_LISTENER_H_
#define NET_LISTENER_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>

#include "net/event_loop.h"
#include "net/socket.h"

namespace bspnow {

class Listener {
 public:
  using OnAccept = std::function<void(Accepted accepted)>;

  /// Binds at once; calls `accepted` for each connection from then on.
  static absl::StatusOr<std::unique_ptr<Listener>> Create(EventLoop& loop,
                                                          const SocketAddress& address,
                                                          const SocketOptions& options,
                                                          OnAccept accepted);
  Listener(EventLoop& loop, UniqueFd fd, const SocketOptions& options, OnAccept accepted);
  ~Listener();

  /// With the real port.
  const SocketAddress& address() const { return address_; }

 private:
  void AcceptAll();

  EventLoop& loop_;
  UniqueFd fd_;
  SocketOptions options_;
  OnAccept accepted_;
  SocketAddress address_;
  TimerId pause_ = kNoTimer;
};

}  // namespace bspnow

#endif  // NET_LISTENER_H_
