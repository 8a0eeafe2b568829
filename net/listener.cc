#include "net/listener.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr int kAcceptsAtOnce = 64;
constexpr std::uint64_t kPauseMs = 100;  // After a failure; descriptors may come free meanwhile.

// The kernel gives the lowest number that is free: so this one is among the last.
bool IsOfTheLast(int fd) {
  constexpr rlim_t kReserveMax = 1024;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t reserve = std::min(limit.rlim_cur / 8, kReserveMax);
  return static_cast<rlim_t>(fd) >= limit.rlim_cur - reserve;
}

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
    if (IsOfTheLast(accepted->fd.get())) continue;  // Closed.
    accepted_(*std::move(accepted));
  }
}

}  // namespace bspnow
