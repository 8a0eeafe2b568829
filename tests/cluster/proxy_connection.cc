#include "tests/cluster/proxy_connection.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/units.h"

namespace bspnow {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kQueuedBytesMax = 256 << 10;
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOTCONN; }

}  // namespace

ProxyConnection::ProxyConnection(UniqueFd accepted, UniqueFd to_target, std::uint64_t seed)
    : sockets_{std::move(accepted), std::move(to_target)},
      directions_{Direction(seed * 2), Direction(seed * 2 + 1)} {}

std::array<pollfd, 2> ProxyConnection::Interests(std::uint64_t now_ns) const {
  std::array<pollfd, 2> interests{};
  for (std::size_t way = 0; way < 2; ++way) {
    const Direction& direction = directions_[way];
    interests[way].fd = sockets_[way].get();
    if (direction.cut) continue;
    if (!direction.ended && direction.queued_bytes < kQueuedBytesMax)
      interests[way].events |= POLLIN;
    const bool ready = !direction.decided.empty() ||
                       (!direction.pieces.empty() && direction.pieces.front().due_ns <= now_ns);
    if (ready && direction.stalled_until_ns <= now_ns) interests[1 - way].events |= POLLOUT;
  }
  return interests;
}

std::uint64_t ProxyConnection::due_ns() const {
  std::uint64_t due_ns = kNever;
  for (const Direction& direction : directions_) {
    if (direction.cut || direction.queued_bytes == 0) continue;
    const std::uint64_t first_ns =
        direction.decided.empty() ? direction.pieces.front().due_ns : std::uint64_t{0};
    due_ns = std::min(due_ns, std::max(direction.stalled_until_ns, first_ns));
  }
  return due_ns;
}

bool ProxyConnection::Move(const FaultSettings& settings, std::uint64_t now_ns,
                           ProxyCounts& counts) {
  for (std::size_t way = 0; way < 2; ++way) {
    Direction& direction = directions_[way];
    if (direction.cut) continue;
    if (Read(direction, sockets_[way].get(), settings, now_ns) == Outcome::kOver ||
        Write(direction, sockets_[1 - way].get(), settings, now_ns, counts) == Outcome::kOver) {
      ResetBoth();
      return false;
    }
  }
  return !(directions_[0].end_passed_on && directions_[1].end_passed_on);
}

ProxyConnection::Outcome ProxyConnection::Read(Direction& direction, int from,
                                               const FaultSettings& settings,
                                               std::uint64_t now_ns) {
  if (direction.ended || direction.queued_bytes >= kQueuedBytesMax) return Outcome::kGoesOn;
  std::string bytes(kReadBytes, '\0');
  const ssize_t got = recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return WouldBlock() ? Outcome::kGoesOn : Outcome::kOver;
  direction.ended = got == 0;
  if (got > 0) {
    const std::uint64_t left =
        direction.passes_bytes - std::min(direction.passes_bytes, direction.read_bytes);
    direction.read_bytes += static_cast<std::uint64_t>(got);
    bytes.resize(std::min(static_cast<std::uint64_t>(got), left));
    if (bytes.empty()) return Outcome::kGoesOn;
    direction.queued_bytes += bytes.size();
    direction.pieces.push_back({now_ns + settings.delay_ms * kNsPerMs, std::move(bytes)});
  }
  return Outcome::kGoesOn;
}

ProxyConnection::Outcome ProxyConnection::Write(Direction& direction, int to,
                                                const FaultSettings& settings, std::uint64_t now_ns,
                                                ProxyCounts& counts) {
  while (!direction.cut && direction.stalled_until_ns <= now_ns) {
    if (direction.decided.empty()) {
      if (direction.pieces.empty() || direction.pieces.front().due_ns > now_ns) break;
      if (Decide(direction, settings, now_ns, counts) == Outcome::kOver) return Outcome::kOver;
      if (direction.decided.empty()) continue;
    }
    std::size_t bytes = direction.decided.size();
    if (settings.piece_bytes > 0)
      bytes = std::min<std::size_t>(bytes, 1 + direction.chance() % settings.piece_bytes);
    const ssize_t sent = send(to, direction.decided.data(), bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return WouldBlock() ? Outcome::kGoesOn : Outcome::kOver;
    if (counts.record.is_open()) counts.record.write(direction.decided.data(), sent).flush();
    direction.decided.erase(0, static_cast<std::size_t>(sent));
    direction.queued_bytes -= static_cast<std::size_t>(sent);
    counts.bytes += static_cast<std::uint64_t>(sent);
  }
  if (direction.ended && direction.queued_bytes == 0 && !direction.end_passed_on) {
    shutdown(to, SHUT_WR);
    direction.end_passed_on = true;
  }
  return Outcome::kGoesOn;
}

/// Takes from the first piece what the plan lets pass, and causes the fault that follows.
ProxyConnection::Outcome ProxyConnection::Decide(Direction& direction,
                                                 const FaultSettings& settings,
                                                 std::uint64_t now_ns, ProxyCounts& counts) {
  std::string& bytes = direction.pieces.front().bytes;
  const FaultPlan::Step step = direction.plan.Next(settings, bytes.size());
  direction.decided = bytes.substr(0, step.bytes);
  bytes.erase(0, step.bytes);
  if (bytes.empty()) direction.pieces.pop_front();
  if (!step.faulty) return Outcome::kGoesOn;
  ++counts.faults[static_cast<std::size_t>(step.fault)];
  if (step.fault == Fault::kFlip) direction.decided.back() ^= static_cast<char>(1u << step.bit);
  return Cause(step.fault, settings, now_ns);
}

ProxyConnection::Outcome ProxyConnection::Cause(Fault fault, const FaultSettings& settings,
                                                std::uint64_t now_ns) {
  if (fault == Fault::kReset) return Outcome::kOver;
  for (Direction& direction : directions_) {
    if (fault == Fault::kStall) direction.stalled_until_ns = now_ns + settings.stall_ms * kNsPerMs;
    if (fault == Fault::kHalfOpen) direction.cut = true;
  }
  return Outcome::kGoesOn;
}

void ProxyConnection::ResetBoth() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  for (UniqueFd& socket : sockets_) {
    if (socket.valid()) setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket.Reset();
  }
}

void ProxyConnection::Heal() {
  for (Direction& direction : directions_) {
    direction.cut = false;
    direction.passes_bytes = kAllBytes;
    direction.stalled_until_ns = 0;
  }
}

}  // namespace bspnow
