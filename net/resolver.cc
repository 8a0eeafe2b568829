#include "net/resolver.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace bspnow {
namespace {

constexpr int kOpenMax = 64;

bool IsNumber(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

struct Resolver::Shared {
  std::mutex mutex;
  EventLoop* loop;  ///< Guarded by mutex. Null once the resolver is gone.
  int open = 0;     ///< Guarded by mutex.
};

Resolver::Resolver(EventLoop& loop, Lookup lookup)
    : loop_(loop), lookup_(std::move(lookup)), shared_(std::make_shared<Shared>()) {
  shared_->loop = &loop;
}

Resolver::~Resolver() {
  const std::lock_guard lock(shared_->mutex);
  shared_->loop = nullptr;
}

void Resolver::Ask(const HostPort& host_port, std::function<void(const Answer&)> done) {
  std::optional<Answer> at_once;
  {
    const std::lock_guard lock(shared_->mutex);
    if (IsNumber(host_port.host)) {
      at_once = lookup_(host_port);
    } else if (shared_->open == kOpenMax) {
      at_once = absl::UnavailableError("too many names are being looked up");
    } else {
      shared_->open += 1;
    }
  }
  if (at_once) {
    loop_.Post([answer = *std::move(at_once), done = std::move(done)] { done(answer); });
    return;
  }
  // Detached: the end of a daemon does not wait for a name server.
  std::thread([shared = shared_, lookup = lookup_, host_port, done = std::move(done)]() mutable {
    Answer answer = lookup(host_port);
    const std::lock_guard lock(shared->mutex);
    shared->open -= 1;
    if (shared->loop == nullptr) return;
    shared->loop->Post([answer = std::move(answer), done = std::move(done)] { done(answer); });
  }).detach();
}

}  // namespace bspnow
