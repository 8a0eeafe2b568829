// Names to addresses, without holding up the loop: an answer may take half a minute, and meanwhile
// heartbeats and supersteps must go on. Each question has a thread for as long as it is open, but
// for numbers, which need none.
#ifndef NET_RESOLVER_H_
#define NET_RESOLVER_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <vector>

#include "net/event_loop.h"
#include "net/socket.h"

namespace bspnow {

class Resolver {
 public:
  using Answer = absl::StatusOr<std::vector<SocketAddress>>;
  using Lookup = std::function<Answer(const HostPort&)>;

  explicit Resolver(EventLoop& loop) : Resolver(loop, ResolveAll) {}

  /// For tests: who is asked.
  Resolver(EventLoop& loop, Lookup lookup);

  /// Nobody is answered any more.
  ~Resolver();

  /// Calls `done` on the loop's thread, not from inside this call, with at least one address, or
  /// why there is none. UNAVAILABLE if very many questions are open, or there is no thread for one
  /// more.
  void Ask(const HostPort& host_port, std::function<void(const Answer&)> done);

 private:
  void AnswerAtOnce(Answer answer, std::function<void(const Answer&)> done);

  struct Shared;  // With threads that may outlive the resolver.

  EventLoop& loop_;
  Lookup lookup_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace bspnow

#endif  // NET_RESOLVER_H_
