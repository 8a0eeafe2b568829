// One connection of the web page's server, with or without TLS. Its thread waits here, never beyond
// a time that it gives: a client that is slow on purpose costs no more than that.
#ifndef COORDINATOR_WEB_WEB_CONNECTION_H_
#define COORDINATOR_WEB_WEB_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/unique_fd.h"
#include "net/tls/openssl.h"

namespace bspnow::coordinator {

class WebConnection {
 public:
  /// `fd`: connected and non-blocking. `ssl`: on it; null: plain text.
  WebConnection(UniqueFd fd, SslPtr ssl) : fd_(std::move(fd)), ssl_(std::move(ssl)) {}

  int fd() const { return fd_.get(); }

  /// Some bytes, at least one; OUT_OF_RANGE if the client has closed its side. Like the next one,
  /// DEADLINE_EXCEEDED at that time of the monotonic clock, UNAVAILABLE if the connection broke.
  absl::StatusOr<std::size_t> Read(std::span<char> to, std::uint64_t until_ns);

  /// All of it.
  absl::Status Write(std::string_view bytes, std::uint64_t until_ns);

  /// The client ends the connection within that time, or sends something, which none has to.
  bool EndsWithin(std::uint64_t time_ms) const;

  /// No more will be written; tells the client so.
  void End();

  /// After End, before the connection is closed with something unread: that would reset it, and
  /// could take the answer along. Reads so much at most, until the client ends its side.
  void PassOver(std::size_t bytes_max, std::uint64_t until_ns);

 private:
  struct Outcome {
    std::size_t bytes;  ///< 0: nothing now.
    short wait_for;     ///< As for poll; 0: it is over.
  };
  Outcome TryRead(std::span<char> to);
  Outcome TryWrite(std::string_view bytes);
  Outcome OfSsl(int result);
  absl::Status WaitFor(short events, std::uint64_t until_ns) const;

  UniqueFd fd_;
  SslPtr ssl_;  ///< After fd_, which it uses.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_WEB_CONNECTION_H_
