// Opens one lane to another worker: connects, sends kLane, proves the key, waits for the Welcome,
// and gives the socket away. It reads not one byte more than the answers: what follows is for
// whoever gets the socket.
#ifndef NET_LANE_CONNECTOR_H_
#define NET_LANE_CONNECTOR_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/frame.h"
#include "net/resolver.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"

namespace bspnow {

struct LaneConnectorOptions {
  StreamKey key;  ///< See KeyOfLanes.
  WorkerId self{};
  WorkerId target{};
  JobId job{};
  Epoch epoch{};
  std::uint32_t number = 0;  ///< As in LaneBody.
  HostPort address;
  SocketOptions socket;
  std::uint64_t answer_ms = 5000;  ///< For each address of the name.
};

class LaneConnector {
 public:
  /// The socket, non-blocking, or why there is none.
  using Done = std::function<void(absl::StatusOr<UniqueFd> socket)>;

  /// `done` is called once, on the loop's thread and not from inside this call; the connector may
  /// be destroyed there. `resolver` is the caller's and stays.
  LaneConnector(EventLoop& loop, Resolver& resolver, LaneConnectorOptions options, Done done);

  /// `done` is not called any more.
  ~LaneConnector();
  LaneConnector(const LaneConnector&) = delete;
  LaneConnector& operator=(const LaneConnector&) = delete;

 private:
  void Connect();
  void OnConnected();
  void OnReadable();
  void OnHeader();
  void OnChallenge();
  void SendFrame(const FrameHeader& header, std::span<const std::byte> payload);
  std::string ReadReason();
  void Shut();
  void GoOn(const std::string& failure);
  void Finish();

  EventLoop& loop_;
  const LaneConnectorOptions options_;
  const Done done_;
  std::vector<SocketAddress> addresses_;  ///< Still to be tried, the next one last.
  UniqueFd fd_;
  std::optional<ConnectingProof> proof_;  ///< Of this connection.
  FrameHeader answer_{};                  ///< As far as it has come.
  ChallengeBody challenge_{};             ///< Its payload, the same.
  std::size_t answer_bytes_ = 0;          ///< Of both together.
  bool proven_ = false;
  std::string failure_;  ///< Of the last address.
  TimerId timer_ = kNoTimer;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace bspnow

#endif  // NET_LANE_CONNECTOR_H_
