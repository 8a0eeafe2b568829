#include "net/stream_tls.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <tuple>
#include <utility>

#include "base/unique_fd.h"
#include "net/frame.h"

namespace bspnow {
namespace {

const StreamKey kKey = StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'))->Encrypting();
const StreamKey kOtherKey = StreamKey::FromBytes(std::string(StreamKey::kBytes, 'o'))->Encrypting();
constexpr std::size_t kTurnBytes = 1 << 20;

std::pair<UniqueFd, UniqueFd> SocketPair() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

iovec Piece(const std::string& text) { return {const_cast<char*>(text.data()), text.size()}; }

/// One end of TLS, and its socket's other side, which the test reads and writes.
struct Side {
  Side(StreamTls::End end, const StreamKey& key) {
    std::tie(fd, wire) = SocketPair();
    tls = StreamTls::Of(key, end, fd.get());
  }

  absl::StatusOr<std::size_t> Send(const std::string& text) {
    const iovec piece = Piece(text);
    return tls->Send(std::span(&piece, 1));
  }

  /// All that is here; then `status` says how it ended, if it did.
  std::string Receive() {
    tls->BeginTurn(kTurnBytes);
    std::string text;
    for (;;) {
      char room[10'000];
      const iovec piece{room, sizeof room};
      const auto n = tls->Receive(std::span(&piece, 1));
      status = n.status();
      if (!n.ok()) return text;
      text.append(room, *n);
      if (*n < sizeof room) return text;
    }
  }

  UniqueFd fd, wire;
  std::unique_ptr<StreamTls> tls;
  absl::Status status;
};

class StreamTlsTest : public testing::Test {
 protected:
  /// Takes what one side has put on the wire.
  static std::string Taken(const Side& side) {
    std::string taken;
    char room[1 << 16];
    for (ssize_t n; (n = recv(side.wire.get(), room, sizeof room, 0)) > 0;)
      taken.append(room, static_cast<std::size_t>(n));
    return taken;
  }
  static void Put(const Side& side, const std::string& bytes) {
    ASSERT_EQ(send(side.wire.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  /// From a to b what a has sent.
  std::string Pass(const Side& a, const Side& b) {
    const std::string bytes = Taken(a);
    seen_ += bytes;
    Put(b, bytes);
    return bytes;
  }

  /// Both are open, and the accepting end has got "hello".
  void Open() {
    EXPECT_EQ(*connecting_.Send("hello"), 5u);
    Pass(connecting_, accepting_);
    EXPECT_EQ(accepting_.Receive(), "");
    Pass(accepting_, connecting_);
    EXPECT_EQ(connecting_.Receive(), "");
    Pass(connecting_, accepting_);
    EXPECT_EQ(accepting_.Receive(), "hello");
  }

  Side connecting_{StreamTls::End::kConnects, kKey};
  Side accepting_{StreamTls::End::kAccepts, kKey};
  std::string seen_;  ///< On the wire.
};

TEST_F(StreamTlsTest, KeyThatDoesNotEncryptHasNone) {
  const StreamKey clear = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));
  EXPECT_EQ(StreamTls::Of(clear, StreamTls::End::kConnects, 0), nullptr);
  EXPECT_EQ(StreamTls::Of(StreamKey().Encrypting(), StreamTls::End::kConnects, 0), nullptr);
}

TEST_F(StreamTlsTest, CarriesBothWaysAndShowsNothing) {
  Open();
  EXPECT_EQ(*accepting_.Send("an answer"), 9u);
  Pass(accepting_, connecting_);
  EXPECT_EQ(connecting_.Receive(), "an answer");
  EXPECT_EQ(seen_.find("hello"), std::string::npos);
  EXPECT_EQ(seen_.find("answer"), std::string::npos);
  EXPECT_EQ(seen_.find(std::string(8, 'k')), std::string::npos);
}

TEST_F(StreamTlsTest, EachConnectionHasKeysOfItsOwn) {
  Open();
  ASSERT_TRUE(connecting_.Send("the same").ok());
  const std::string one = Taken(connecting_);
  connecting_ = Side(StreamTls::End::kConnects, kKey);
  accepting_ = Side(StreamTls::End::kAccepts, kKey);
  Open();
  Put(accepting_, one);
  EXPECT_EQ(accepting_.Receive(), "");
  EXPECT_EQ(accepting_.tls->fault(), FrameFault::kBadTls);
}

TEST_F(StreamTlsTest, OtherKeyGetsThroughNoHandshake) {
  connecting_ = Side(StreamTls::End::kConnects, kOtherKey);
  ASSERT_TRUE(connecting_.Send("hello").ok());
  Pass(connecting_, accepting_);
  EXPECT_EQ(accepting_.Receive(), "");
  EXPECT_EQ(accepting_.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(accepting_.tls->fault(), FrameFault::kBadTls);
  EXPECT_FALSE(accepting_.Send("a word").ok());
  Pass(accepting_, connecting_);  // An alert.
  EXPECT_EQ(connecting_.Receive(), "");
  EXPECT_EQ(connecting_.tls->fault(), FrameFault::kBadTls);
}

TEST_F(StreamTlsTest, PeerInClearIsNamedAndCanBeTold) {
  const std::string clear(reinterpret_cast<const char*>(&kFrameMagic), sizeof kFrameMagic);
  for (Side* const side : {&accepting_, &connecting_}) {
    Put(*side, clear + std::string(68, 'x'));
    EXPECT_EQ(side->Receive(), "");
    EXPECT_EQ(side->tls->fault(), FrameFault::kInClear);
    Taken(*side);
    EXPECT_EQ(*side->Send("go away"), 7u);
    EXPECT_EQ(Taken(*side), "go away");
    EXPECT_EQ(side->Receive(), "") << "nothing more is taken";
    EXPECT_FALSE(side->status.ok());
  }
}

TEST_F(StreamTlsTest, ChangedByteEndsTheStream) {
  Open();
  ASSERT_TRUE(connecting_.Send("one").ok());
  std::string bytes = Taken(connecting_);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  Put(accepting_, bytes);
  EXPECT_EQ(accepting_.Receive(), "");
  EXPECT_EQ(accepting_.tls->fault(), FrameFault::kBadTls);
  ASSERT_TRUE(connecting_.Send("two").ok());
  Pass(connecting_, accepting_);
  EXPECT_EQ(accepting_.Receive(), "");
  EXPECT_FALSE(accepting_.status.ok());
}

TEST_F(StreamTlsTest, InjectedAndRepeatedRecordsEndTheStream) {
  for (const bool repeated : {false, true}) {
    connecting_ = Side(StreamTls::End::kConnects, kKey);
    accepting_ = Side(StreamTls::End::kAccepts, kKey);
    Open();
    ASSERT_TRUE(connecting_.Send("one").ok());
    const std::string record = Pass(connecting_, accepting_);
    EXPECT_EQ(accepting_.Receive(), "one");
    Put(accepting_, repeated ? record : std::string(1, '\x17') + record);
    EXPECT_EQ(accepting_.Receive(), "");
    EXPECT_EQ(accepting_.tls->fault(), FrameFault::kBadTls);
  }
}

TEST_F(StreamTlsTest, EndSaysWhetherARecordWasCut) {
  Open();
  ASSERT_TRUE(connecting_.Send("one").ok());
  const std::string record = Taken(connecting_);
  Put(accepting_, record);
  ASSERT_TRUE(connecting_.Send("two").ok());
  Put(accepting_, Taken(connecting_).substr(0, record.size() - 1));
  accepting_.wire.Reset();
  EXPECT_EQ(accepting_.Receive(), "one");
  EXPECT_EQ(accepting_.Receive(), "");
  EXPECT_EQ(accepting_.status.code(), absl::StatusCode::kUnavailable);

  connecting_.wire.Reset();
  EXPECT_EQ(connecting_.Receive(), "");
  EXPECT_EQ(connecting_.status.code(), absl::StatusCode::kOutOfRange);
}

TEST_F(StreamTlsTest, EndInsideTheHandshakeIsABreak) {
  accepting_.wire.Reset();
  EXPECT_EQ(accepting_.Receive(), "");
  EXPECT_EQ(accepting_.status.code(), absl::StatusCode::kUnavailable);
}

// Bytes that were refused may lie elsewhere when they are offered again.
TEST_F(StreamTlsTest, WhatTheSocketDoesNotTakeIsOfferedAgain) {
  Open();
  std::string text(4 << 20, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i >> 7);
  const std::string whole = text;
  std::string got;
  int refused = 0;
  while (got.size() < whole.size()) {
    std::string copy = text;
    // A short piece before a long one, as a frame has them.
    const iovec pieces[] = {{copy.data(), std::min<std::size_t>(copy.size(), 100)},
                            {copy.data() + std::min<std::size_t>(copy.size(), 100),
                             copy.size() - std::min<std::size_t>(copy.size(), 100)}};
    const auto sent = copy.empty() ? 0 : connecting_.tls->Send(pieces);
    ASSERT_TRUE(sent.ok());
    text.erase(0, *sent);
    if (*sent != 0) continue;
    ++refused;
    for (std::string bytes = Taken(connecting_); !bytes.empty(); bytes.erase(0, 50'000)) {
      Put(accepting_, bytes.substr(0, 50'000));
      got += accepting_.Receive();
      if (bytes.size() <= 50'000) break;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(got == whole);
}

// What has left the socket is not to be waited for.
TEST_F(StreamTlsTest, TurnEndsWithNothingButPartsOfRecordsInHand) {
  Open();
  const std::string text(60'000, 'x');
  ASSERT_TRUE(connecting_.Send(text).ok());
  Pass(connecting_, accepting_);
  std::string got;
  for (int turns = 0; got.size() < text.size(); ++turns) {
    ASSERT_LT(turns, 100);
    char byte;
    const bool readable = recv(accepting_.fd.get(), &byte, 1, MSG_PEEK) == 1;
    ASSERT_TRUE(readable) << got.size();
    accepting_.tls->BeginTurn(10'000);
    for (std::size_t n = 1; n != 0; got.append(n, 'x')) {
      char room[5000];
      const iovec piece{room, sizeof room};
      n = *accepting_.tls->Receive(std::span(&piece, 1));
    }
  }
}

TEST_F(StreamTlsTest, KeysAreRenewedOnTheWay) {
  Open();
  constexpr int kRecords = (1 << 18) + 1000;  // More than there are for one key.
  std::uint64_t got = 0;
  std::uint64_t passed = 0;
  for (int i = 0; i < kRecords; ++i) {
    ASSERT_EQ(*connecting_.Send("x"), 1u);
    if (i % 200 != 0 && i + 1 != kRecords) continue;
    const std::string bytes = Taken(connecting_);
    passed += bytes.size();
    Put(accepting_, bytes);
    got += accepting_.Receive().size();
    ASSERT_TRUE(accepting_.status.ok()) << i;
  }
  EXPECT_EQ(got, kRecords);
  constexpr int kAround = 5 + 1 + 16;  // Header, type and tag of each record.
  constexpr int kKeyUpdate = 5;
  EXPECT_EQ(passed, kRecords * (kAround + 1) + (kAround + kKeyUpdate));
}

}  // namespace
}  // namespace bspnow
