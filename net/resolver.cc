#include "net/resolver.h"

#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <netinet/in.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/start_thread.h"

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
  if (IsNumber(host_port.host)) return AnswerAtOnce(lookup_(host_port), std::move(done));
  const std::lock_guard lock(shared_->mutex);
  if (shared_->open == kOpenMax)
    return AnswerAtOnce(absl::UnavailableError("too many names are being looked up"), done);
  auto thread = StartThread([shared = shared_, lookup = lookup_, host_port, done] {
    Answer answer = lookup(host_port);
    const std::lock_guard lock(shared->mutex);
    shared->open -= 1;
    if (shared->loop == nullptr) return;
    shared->loop->Post([answer = std::move(answer), done] { done(answer); });
  });
  if (!thread)
    return AnswerAtOnce(
        absl::UnavailableError(absl::StrCat("looking up the host \"", host_port.host,
                                            "\": there is no thread to be had")),
        done);
  shared_->open += 1;
  thread->detach();  // The end of a daemon does not wait for a name server.
}

void Resolver::AnswerAtOnce(Answer answer, std::function<void(const Answer&)> done) {
  loop_.Post([answer = std::move(answer), done = std::move(done)] { done(answer); });
}

}  // namespace bspnow
