#include "net/listener.h"

#include <utility>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr int kAcceptsAtOnce = 64;
constexpr std::uint64_t kPauseMs = 100;  // After a failure; descriptors may come free meanwhile.

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Create(EventLoop& loop,
                                                           const SocketAddress& address,
                                                           const SocketOptions& options,
                                                           OnAccept accepted) {
  absl::StatusOr<UniqueFd> fd = Listen(address, options);
  if (!fd.ok()) return fd.status();
  return std::make_unique<Listener>(loop, *std::move(fd), options, std::move(accepted));
}

Listener::Listener(EventLoop& loop, UniqueFd fd, const SocketOptions& options, OnAccept accepted)
    : loop_(loop), fd_(std::move(fd)), options_(options), accepted_(std::move(accepted)) {
  const absl::StatusOr<SocketAddress> address = LocalAddress(fd_.get());
  BSP_CHECK(address.ok());
  address_ = *address;
  loop_.OnReadable(fd_.get(), [this] { AcceptAll(); });
}

Listener::~Listener() {
  loop_.CancelTimer(pause_);
  loop_.Forget(fd_.get());
}

void Listener::AcceptAll() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    absl::StatusOr<Accepted> accepted = Accept(fd_.get(), options_);
    if (!accepted.ok()) {
      loop_.StopReading(fd_.get());
      pause_ = loop_.AddTimer(kPauseMs,
                              [this] { loop_.OnReadable(fd_.get(), [this] { AcceptAll(); }); });
      return;
    }
    if (!accepted->fd.valid()) return;
    accepted_(*std::move(accepted));
  }
}

}  // namespace bspnow
