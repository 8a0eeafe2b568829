#include "worker/exchange/coordinator_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/frame_body.h"
#include "net/listener.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"
#include "net/testing/loop_fixture.h"

namespace bspnow::worker {
namespace {

const StreamKey kKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));

// A coordinator that may stop to answer on a connection, without closing it.
class Coordinator {
 public:
  struct Connection {
    std::unique_ptr<FrameStream> stream;
    bool mute = false;
    bool closed = false;
    std::optional<AcceptingProof> proof;
    int hellos = 0;
    int proofs = 0;
    int heartbeats = 0;
  };

  explicit Coordinator(EventLoop& loop) : loop_(loop) {
    auto listener =
        Listener::Create(loop, *Resolve({"127.0.0.1", 0}), SocketOptions{},
                         [this](Accepted accepted) { OnAccepted(std::move(accepted)); });
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }

  std::string address() const { return listener_->address().ToString(); }

  std::vector<std::unique_ptr<Connection>> connections;
  bool mute_new_ones = false;
  StreamKey key = kKey;

 private:
  void OnAccepted(Accepted accepted) {
    Connection& connection = *connections.emplace_back(std::make_unique<Connection>());
    connection.mute = mute_new_ones;
    connection.stream = std::make_unique<FrameStream>(
        loop_, std::move(accepted.fd), key,
        FrameStreamEvents{
            .frame =
                [this, &connection](const FrameHeader& header, std::span<const std::byte> payload) {
                  return OnFrame(connection, header, payload);
                },
            .closed = [&connection](const absl::Status&) { connection.closed = true; }});
  }

  FrameFault OnFrame(Connection& connection, const FrameHeader& header,
                     std::span<const std::byte> payload) {
    const FrameKind kind{header.kind};
    ++(kind == FrameKind::kHello   ? connection.hellos
       : kind == FrameKind::kProof ? connection.proofs
                                   : connection.heartbeats);
    if (connection.mute) return FrameFault::kNone;
    if (kind == FrameKind::kHello) {
      connection.proof = AcceptingProof::Of(header, payload);
      const ChallengeBody challenge = connection.proof->Challenge(key);
      connection.stream->Send(HeaderOf(FrameKind::kChallenge), BytesOf(challenge));
    } else if (kind == FrameKind::kProof) {
      EXPECT_EQ(connection.proof->OnProof(key, payload), FrameFault::kNone);
      connection.stream->Send(HeaderOf(FrameKind::kWelcome), {});
    } else {
      connection.stream->Send(HeaderOf(FrameKind::kLease), payload);
    }
    return FrameFault::kNone;
  }

  EventLoop& loop_;
  std::unique_ptr<Listener> listener_;
};

class CoordinatorStreamTest : public LoopTest, private CoordinatorStreamOwner {
 protected:
  CoordinatorStreamTest() : coordinator_(loop_) { Begin(); }

  void Begin() {
    leases_ = 0;
    CoordinatorStreamOwner& owner = *this;  // The base is private.
    stream_ =
        std::make_unique<CoordinatorStream>(loop_, resolver_,
                                            CoordinatorStreamPlan{.self = WorkerId{1},
                                                                  .incarnation = 7,
                                                                  .address = coordinator_.address(),
                                                                  .heartbeat_ms = 10,
                                                                  .term = 1,
                                                                  .key = kKey,
                                                                  .proof_key = kKey,
                                                                  .socket = SocketOptions{},
                                                                  .silent_ms = 200},
                                            owner);
    RunUntil([this] { return leases_ > 0; });
  }

  // Whether there is a while without a new connection. Not the first one must be: a loaded machine
  // may pause both ends for longer than silence may last.
  bool ConnectionStays() {
    for (int tries = 0; tries < 10; ++tries) {
      const std::size_t before = connections();
      RunFor(400);
      if (connections() == before) return true;
    }
    return false;
  }

  Coordinator::Connection& connection(std::size_t i) { return *coordinator_.connections.at(i); }
  std::size_t connections() const { return coordinator_.connections.size(); }

  /// Those of the coordinator's name that come first.
  std::vector<SocketAddress> other_addresses_;
  Resolver resolver_{loop_, [this](const HostPort& host_port) -> Resolver::Answer {
                       std::vector<SocketAddress> addresses = other_addresses_;
                       addresses.push_back(*Resolve(host_port));
                       return addresses;
                     }};
  Coordinator coordinator_;
  std::unique_ptr<CoordinatorStream> stream_;
  int connects_ = 0;
  int leases_ = 0;

 private:
  void OnCoordinatorConnected() override { ++connects_; }
  FrameFault OnCoordinatorFrame(const FrameHeader&, std::span<const std::byte>) override {
    return FrameFault::kMalformed;
  }
  void OnLeaseRenewed(std::uint64_t) override { ++leases_; }
};

TEST_F(CoordinatorStreamTest, ConnectionThatIsAnsweredStays) { EXPECT_TRUE(ConnectionStays()); }

TEST_F(CoordinatorStreamTest, SilentConnectionIsReplaced) {
  connection(0).mute = true;
  RunUntil([this] { return connections() == 2; });
  const int before = leases_;
  RunUntil([&] { return leases_ > before && connection(0).closed; });
  EXPECT_EQ(connects_, 2) << "what is owed is sent again";
  EXPECT_EQ(stream_->reconnects(), 1u);
  EXPECT_TRUE(ConnectionStays());
}

// Of a worker without jobs.
TEST_F(CoordinatorStreamTest, ConnectionThatIsSeldomAskedStaysWhileItAnswers) {
  constexpr std::uint64_t kSeldomMs = 500;  // Longer than silence may last.
  stream_->RenewLease(kSeldomMs);
  const int before = leases_;
  RunUntil([&] { return leases_ == before + 3; });
  EXPECT_EQ(connections(), 1u);
  connection(0).mute = true;
  RunUntil([this] { return connections() == 2; });
}

TEST_F(CoordinatorStreamTest, LeaseIsRenewedAtOnceWhenItIsNeeded) {
  constexpr std::uint64_t kNeverMs = 3'600'000;
  stream_->RenewLease(kNeverMs);
  RunFor(20);  // What is on its way.
  const int before = leases_;
  stream_->RenewLease(10);
  RunUntil([&] { return leases_ == before + 2; });
}

// Else the coordinator would see a worker without any, which is soon lost.
TEST_F(CoordinatorStreamTest, SilentConnectionStaysUntilAnotherOneIsWelcomed) {
  connection(0).mute = true;
  coordinator_.mute_new_ones = true;
  RunUntil([this] { return connections() == 4; });
  EXPECT_FALSE(connection(0).closed);
  RunUntil([this] { return connection(1).closed && connection(2).closed; });
  EXPECT_EQ(connection(1).hellos, 1);
  coordinator_.mute_new_ones = false;
  RunUntil([this] { return connection(0).closed; });
}

TEST_F(CoordinatorStreamTest, SilentConnectionThatEndsIsNoLoss) {
  connection(0).mute = true;
  coordinator_.mute_new_ones = true;
  RunUntil([this] { return connections() == 2; });
  connection(0).stream->Close("gone");
  coordinator_.mute_new_ones = false;
  RunUntil([this] { return connections() == 3; });
  const int before = leases_;
  RunUntil([&] { return leases_ > before; });
}

// Whoever got the coordinator's port could keep its workers' leases alive.
TEST_F(CoordinatorStreamTest, OneThatDoesNotProveTheKeyGetsNothing) {
  coordinator_.key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'o'));
  connection(0).stream->Close("gone");
  RunUntil([this] { return connections() == 4; });
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(connection(i).hellos, 1);
    EXPECT_EQ(connection(i).proofs, 0);
    EXPECT_EQ(connection(i).heartbeats, 0);
  }
  EXPECT_EQ(connects_, 1);
  coordinator_.key = kKey;
  const int before = leases_;
  RunUntil([&] { return leases_ > before; });
  EXPECT_EQ(connects_, 2);
}

TEST_F(CoordinatorStreamTest, AllAddressesOfANameAreTried) {
  stream_.reset();
  other_addresses_ = {*Resolve({"127.0.0.1", 1}), *Resolve({"127.0.0.1", 2})};
  Begin();
  EXPECT_EQ(connections(), 2u);
}

}  // namespace
}  // namespace bspnow::worker
