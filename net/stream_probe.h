// Whether another worker's streams can be reached: connects as a SendingStream does, says Hello,
// proves the key with as many bytes as a large packet has, and waits for the Welcome. Nothing else
// is sent, and streams that stand are not disturbed.
#ifndef NET_STREAM_PROBE_H_
#define NET_STREAM_PROBE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/event_loop.h"
#include "net/frame_stream.h"
#include "net/resolver.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"

namespace bspnow {

struct StreamProbeOptions {
  const StreamKey& key;  ///< The caller's, and stays.
  WorkerId self{};
  WorkerId target{};
  HostPort address;
  SocketOptions socket;
  std::uint64_t answer_ms = 2000;  ///< For each address of the name.
};

class StreamProbe {
 public:
  /// `failure` is empty if the worker can be reached.
  using Done = std::function<void(const std::string& failure)>;

  /// `done` is called once, on the loop's thread and not from inside this call; the probe may be
  /// destroyed there. `resolver` is the caller's and stays.
  StreamProbe(EventLoop& loop, Resolver& resolver, StreamProbeOptions options, Done done);

  /// `done` is not called any more.
  ~StreamProbe();
  StreamProbe(const StreamProbe&) = delete;
  StreamProbe& operator=(const StreamProbe&) = delete;

 private:
  void Connect();
  FrameFault OnFrame(const FrameHeader& header, std::span<const std::byte> payload);
  FrameFault OnChallenge(const FrameHeader& challenge, std::span<const std::byte> payload);
  void OnSilence();
  void GoOn(const std::string& failure);
  void Finish(const std::string& failure);

  EventLoop& loop_;
  const StreamProbeOptions options_;
  const Done done_;
  std::vector<SocketAddress> addresses_;  ///< Still to be tried, the next one last.
  std::unique_ptr<FrameStream> stream_;
  std::optional<ConnectingProof> proof_;  ///< Of `stream_`.
  bool proven_ = false;
  std::size_t filler_bytes_ = 0;  ///< That went with the proof; none if a worker of before answers.
  std::string refusal_;           ///< The reason that the worker gave.
  std::string failure_;           ///< Of the last address.
  TimerId timer_ = kNoTimer;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace bspnow

#endif  // NET_STREAM_PROBE_H_
