#include "coordinator/web/web_connection.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "base/clock.h"
#include "base/units.h"

namespace bspnow::coordinator {
namespace {

bool IsForLater(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

absl::Status WebConnection::WaitFor(short events, std::uint64_t until_ns) const {
  const std::uint64_t now_ns = NowNs();
  if (now_ns >= until_ns) return absl::DeadlineExceededError("the client is too slow");
  pollfd waited{.fd = fd_.get(), .events = events, .revents = 0};
  if (poll(&waited, 1, static_cast<int>((until_ns - now_ns) / kNsPerMs) + 1) < 0 && errno != EINTR)
    return absl::ErrnoToStatus(errno, "poll");
  return absl::OkStatus();
}

WebConnection::Outcome WebConnection::OfSsl(int result) {
  if (result > 0) return {.bytes = static_cast<std::size_t>(result), .wait_for = 0};
  const int error = SSL_get_error(ssl_.get(), result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return {.bytes = 0, .wait_for = POLLIN};
  if (error == SSL_ERROR_WANT_WRITE) return {.bytes = 0, .wait_for = POLLOUT};
  return {.bytes = 0, .wait_for = 0};
}

// The handshake happens in the first of these.
WebConnection::Outcome WebConnection::TryRead(std::span<char> to) {
  if (ssl_) return OfSsl(SSL_read(ssl_.get(), to.data(), static_cast<int>(to.size())));
  const ssize_t bytes = recv(fd_.get(), to.data(), to.size(), 0);
  if (bytes > 0) return {.bytes = static_cast<std::size_t>(bytes), .wait_for = 0};
  const bool later = bytes < 0 && IsForLater(errno);
  return {.bytes = 0, .wait_for = static_cast<short>(later ? POLLIN : 0)};
}

WebConnection::Outcome WebConnection::TryWrite(std::string_view bytes) {
  if (ssl_) return OfSsl(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())));
  const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent > 0) return {.bytes = static_cast<std::size_t>(sent), .wait_for = 0};
  const bool later = sent < 0 && IsForLater(errno);
  return {.bytes = 0, .wait_for = static_cast<short>(later ? POLLOUT : 0)};
}

absl::StatusOr<std::size_t> WebConnection::Read(std::span<char> to, std::uint64_t until_ns) {
  while (true) {
    const Outcome read = TryRead(to);
    if (read.bytes > 0) return read.bytes;
    if (read.wait_for == 0) return absl::OutOfRangeError("the client has gone");
    if (absl::Status waited = WaitFor(read.wait_for, until_ns); !waited.ok()) return waited;
  }
}

absl::Status WebConnection::Write(std::string_view bytes, std::uint64_t until_ns) {
  constexpr std::size_t kPieceBytes = 64 << 10;
  while (!bytes.empty()) {
    const Outcome sent = TryWrite(bytes.substr(0, kPieceBytes));
    bytes.remove_prefix(sent.bytes);
    if (sent.bytes > 0) continue;
    if (sent.wait_for == 0) return absl::UnavailableError("the client has gone");
    if (absl::Status waited = WaitFor(sent.wait_for, until_ns); !waited.ok()) return waited;
  }
  return absl::OkStatus();
}

bool WebConnection::EndsWithin(std::uint64_t time_ms) const {
  pollfd waited{.fd = fd_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  return poll(&waited, 1, static_cast<int>(time_ms)) > 0;
}

void WebConnection::End() {
  if (ssl_) SSL_shutdown(ssl_.get());
  ERR_clear_error();
  shutdown(fd_.get(), SHUT_WR);
}

void WebConnection::PassOver(std::size_t bytes_max, std::uint64_t until_ns) {
  std::array<char, 4096> rest;
  for (std::size_t bytes = 0; bytes < bytes_max;) {
    const auto read = Read(rest, until_ns);
    if (!read.ok()) return;
    bytes += *read;
  }
}

}  // namespace bspnow::coordinator
