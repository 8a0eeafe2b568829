// A call that gRPC calls back: it owns itself until gRPC is done with it.
#ifndef COORDINATOR_RPC_SELF_OWNED_H_
#define COORDINATOR_RPC_SELF_OWNED_H_

#include <memory>
#include <utility>

namespace bspnow::coordinator {

/// `Reactor` is gRPC's, `Call` the class that derives from this. Who needs the call longer than
/// gRPC does shares it.
template <typename Reactor, typename Call>
class SelfOwned : public Reactor, public std::enable_shared_from_this<Call> {
 public:
  template <typename... Arguments>
  static std::shared_ptr<Call> Make(Arguments&&... arguments) {
    auto call = std::make_shared<Call>(std::forward<Arguments>(arguments)...);
    call->self_ = call;
    return call;
  }

  void OnDone() final { const auto last = std::move(self_); }

 private:
  std::shared_ptr<Call> self_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_SELF_OWNED_H_
