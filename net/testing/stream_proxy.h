// For tests of streams: a network that disturbs them.
#ifndef NET_STREAM_PROXY_H_
#define NET_STREAM_PROXY_H_

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/socket.h"

namespace bspnow {

/// Stands between sender and receiver: hands bytes on in parts of random size, flips bits, resets
/// connections, goes silent, or swallows what is sent.
class Proxy {
 public:
  Proxy(EventLoop& loop, const SocketAddress& target, unsigned seed)
      : loop_(loop), target_(target), random_(seed) {
    auto listener =
        Listener::Create(loop, *Resolve({"127.0.0.1", 0}), SocketOptions{.buffer_bytes = 0},
                         [this](Accepted accepted) { OnAccepted(std::move(accepted)); });
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }
  ~Proxy() { CutAll(); }

  const SocketAddress& address() const { return listener_->address(); }

  void CutAll() {
    for (auto& [number, link] : links_) Forget(link);
    links_.clear();
  }

  std::uint32_t one_in_cut = 0;  ///< Of the parts that are handed on; 0: none.
  std::uint32_t one_in_flip = 0;
  bool silent = false;
  std::uint64_t pass_bytes_max = UINT64_MAX;  ///< Of a connection, to the receiver.
  std::size_t part_bytes_max = 100'000;

 private:
  struct Link {
    UniqueFd near, far;
    std::uint64_t passed_bytes = 0;  ///< To the receiver.
  };

  void OnAccepted(Accepted accepted) {
    const int number = ++last_;
    Link& link = links_[number];
    link.near = std::move(accepted.fd);
    link.far = *BeginConnect(target_, SocketOptions{.buffer_bytes = 0});
    loop_.OnReadable(link.near.get(), [this, number] { HandOn(number, 0); });
    loop_.OnReadable(link.far.get(), [this, number] { HandOn(number, 1); });
  }

  void HandOn(int number, int direction) {
    const auto found = links_.find(number);
    if (found == links_.end()) return;
    const int from = direction == 0 ? found->second.near.get() : found->second.far.get();
    const int to = direction == 0 ? found->second.far.get() : found->second.near.get();
    std::vector<char> part(1 + random_() % part_bytes_max);
    const ssize_t n = recv(from, part.data(), part.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0 || Chance(one_in_cut)) {
      Forget(found->second);
      links_.erase(found);
      return;
    }
    if (silent) return;
    std::uint64_t& passed = found->second.passed_bytes;
    if (direction == 0 && passed + static_cast<std::uint64_t>(n) > pass_bytes_max) return;
    if (direction == 0) passed += static_cast<std::uint64_t>(n);
    if (direction == 0 && Chance(one_in_flip)) part[random_() % n] ^= 1 << random_() % 8;
    for (ssize_t sent = 0; sent < n;) {  // The receiver reads on this same loop: never for long.
      const ssize_t m = send(to, part.data() + sent, n - sent, MSG_NOSIGNAL);
      if (m < 0 && errno != EAGAIN && errno != ENOTCONN) return;
      if (m < 0) return HandOnLater(number, direction, {part.begin() + sent, part.begin() + n});
      sent += m;
    }
  }

  void HandOnLater(int number, int direction, std::vector<char> rest) {
    Link& link = links_.at(number);
    const int from = direction == 0 ? link.near.get() : link.far.get();
    const int to = direction == 0 ? link.far.get() : link.near.get();
    loop_.StopReading(from);
    loop_.OnWritable(to, [this, number, direction, from, to, rest = std::move(rest)]() mutable {
      const ssize_t m = send(to, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (m > 0) rest.erase(rest.begin(), rest.begin() + m);
      if (m > 0 && !rest.empty()) return;
      loop_.StopWriting(to);
      loop_.OnReadable(from, [this, number, direction] { HandOn(number, direction); });
    });
  }

  void Forget(Link& link) {
    loop_.Forget(link.near.get());
    loop_.Forget(link.far.get());
  }

  bool Chance(std::uint32_t one_in) { return one_in != 0 && random_() % one_in == 0; }

  EventLoop& loop_;
  SocketAddress target_;
  std::mt19937 random_;
  std::unique_ptr<Listener> listener_;
  std::map<int, Link> links_;
  int last_ = 0;
};

}  // namespace bspnow

#endif  // NET_STREAM_PROXY_H_
