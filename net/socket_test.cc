#include "net/socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

namespace bspnow {
namespace {

TEST(HostPortTest, ReadsNamesAndNumbers) {
  EXPECT_EQ(ParseHostPort("node-3.example:7000")->host, "node-3.example");
  EXPECT_EQ(ParseHostPort("node-3.example:7000")->port, 7000);
  EXPECT_EQ(ParseHostPort("10.0.0.1:0")->port, 0);
  EXPECT_EQ(ParseHostPort("[::1]:65535")->host, "::1");
  EXPECT_EQ(ParseHostPort("[::1]:65535")->ToString(), "[::1]:65535");
  EXPECT_EQ(ParseHostPort("http://head:7070").status().message(),
            "'http://head:7070' is not HOST:PORT: nothing stands before the host");
}

TEST(HostPortTest, RefusesEverythingElse) {
  for (const char* text :
       {"", ":", "host", "host:", ":1", "host:x", "host:-1", "host:+1", "host:65536", "host: 1",
        "::1:1", "[::1:1", "[]:1", "a]:b:1", "[host]:1", "[[::1]:1", "[:1"})
    EXPECT_FALSE(ParseHostPort(text).ok()) << text;
}

TEST(SocketAddressTest, KnowsLoopback) {
  EXPECT_TRUE(Resolve({"127.1.2.3", 1})->IsLoopback());
  EXPECT_TRUE(Resolve({"::1", 1})->IsLoopback());
  EXPECT_TRUE(Resolve({"::ffff:127.0.0.1", 1})->IsLoopback());
  EXPECT_FALSE(Resolve({"0.0.0.0", 1})->IsLoopback());
  EXPECT_FALSE(Resolve({"10.0.0.1", 1})->IsLoopback());
  EXPECT_FALSE(Resolve({"::", 1})->IsLoopback());
}

TEST(SocketTest, ConnectsToTheRealPortOfPortZero) {
  const SocketOptions options;
  const auto listener = Listen(*Resolve({"127.0.0.1", 0}), options);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const SocketAddress address = *LocalAddress(listener->get());
  EXPECT_NE(address.port(), 0);
  EXPECT_FALSE(Accept(listener->get(), options)->fd.valid());
  const auto client = BeginConnect(address, options);
  ASSERT_TRUE(client.ok());
  pollfd waits{listener->get(), POLLIN, 0};
  ASSERT_EQ(poll(&waits, 1, 5000), 1);
  const auto accepted = Accept(listener->get(), options);
  ASSERT_TRUE(accepted.ok() && accepted->fd.valid());
  EXPECT_EQ(accepted->peer.ToString(), LocalAddress(client->get())->ToString());
  EXPECT_TRUE(ConnectError(client->get()).ok());
}

TEST(SocketTest, RefusedConnectionSaysWhy) {
  const SocketOptions options;
  auto listener = Listen(*Resolve({"127.0.0.1", 0}), options);
  const SocketAddress nobody = *LocalAddress(listener->get());
  listener->Reset();
  const auto client = BeginConnect(nobody, options);
  ASSERT_TRUE(client.ok());
  pollfd waits{client->get(), POLLOUT, 0};
  ASSERT_EQ(poll(&waits, 1, 5000), 1);
  EXPECT_NE(ConnectError(client->get()).message().find("refused"), absl::string_view::npos);
}

TEST(SocketTest, SetsWhatOptionsSay) {
  const auto listener = Listen(*Resolve({"127.0.0.1", 0}), SocketOptions{.congestion = "reno"});
  ASSERT_TRUE(listener.ok());
  char name[16] = "";
  socklen_t bytes = sizeof name;
  ASSERT_EQ(getsockopt(listener->get(), IPPROTO_TCP, TCP_CONGESTION, name, &bytes), 0);
  EXPECT_STREQ(name, "reno");
}

TEST(SocketTest, UnknownCongestionControlIsReportedAndNotFatal) {
  const SocketOptions options{.congestion = "nosuch"};
  const auto listener = Listen(*Resolve({"127.0.0.1", 0}), options);
  ASSERT_TRUE(listener.ok());
  const absl::Status status = SetOptions(listener->get(), options);
  EXPECT_NE(status.message().find("congestion control nosuch"), absl::string_view::npos);
}

}  // namespace
}  // namespace bspnow
