// How soon each kind of gRPC connection notices that the other machine is gone: the time without
// traffic after which it pings, and the time that it gives the answer.
#ifndef BASE_KEEPALIVE_H_
#define BASE_KEEPALIVE_H_

namespace bspnow {

struct Keepalive {
  int time_ms;
  int timeout_ms;
};

/// Clients and the coordinator: people wait there, and nothing is lost.
inline constexpr Keepalive kClientKeepalive{.time_ms = 20'000, .timeout_ms = 10'000};
/// A worker's connection to the coordinator; above the least that the coordinator permits.
inline constexpr Keepalive kWorkerKeepalive{.time_ms = 8'000, .timeout_ms = 2'000};
/// Images between workers: a job waits for them.
inline constexpr Keepalive kImagesKeepalive{.time_ms = 2'000, .timeout_ms = 3'000};

}  // namespace bspnow

#endif  // BASE_KEEPALIVE_H_
