#include "net/metrics/metrics_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace bspnow {
namespace {

constexpr int kPatienceMs = 10'000;  // As Prometheus has by default.

UniqueFd Connected(const HostPort& address) {
  auto connected = BeginConnect(*Resolve(address), SocketOptions{});
  if (!connected.ok()) return UniqueFd();
  pollfd watched{connected->get(), POLLOUT, 0};
  poll(&watched, 1, kPatienceMs);
  return *std::move(connected);
}

std::string Scrape(const HostPort& address) {
  const UniqueFd connection = Connected(address);
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  if (send(connection.get(), request.data(), request.size(), 0) < 0) return "";
  std::string answer;
  pollfd watched{connection.get(), POLLIN, 0};
  for (char bytes[4096]; poll(&watched, 1, kPatienceMs) > 0;) {
    const ssize_t n = recv(connection.get(), bytes, sizeof bytes, 0);
    if (n <= 0) break;
    answer.append(bytes, static_cast<std::size_t>(n));
  }
  return answer;
}

TEST(MetricsServerTest, EachScrapeAsks) {
  int scrapes = 0;
  const auto server =
      MetricsServer::Start({.host = "127.0.0.1", .port = 0}, [&scrapes](MetricList& list) {
        list.Counter("asked_total", "How often.");
        list.Add({{"by", "this \"test\""}}, ++scrapes);
      });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_NE(Scrape((*server)->address()).find("asked_total{by=\"this \\\"test\\\"\"} 1"),
            std::string::npos);
  EXPECT_NE(Scrape((*server)->address()).find("} 2"), std::string::npos);
}

TEST(MetricsServerTest, WhoConnectsAndSaysNothingHoldsUpNobody) {
  const auto server = MetricsServer::Start({.host = "127.0.0.1", .port = 0}, [](MetricList& list) {
    list.Gauge("here", "Something.");
    list.Add({}, 1);
  });
  ASSERT_TRUE(server.ok()) << server.status();
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(Connected((*server)->address()));
  EXPECT_NE(Scrape((*server)->address()).find("here 1"), std::string::npos);
}

// The loop that it asked is no more.
TEST(MetricsServerTest, OneThatWasReleasedAsksNobody) {
  int scrapes = 0;
  auto server = MetricsServer::Start({.host = "127.0.0.1", .port = 0},
                                     [&scrapes](MetricList&) { ++scrapes; });
  ASSERT_TRUE(server.ok()) << server.status();
  const HostPort address = (*server)->address();
  EXPECT_NE(Scrape(address).find("200 OK"), std::string::npos);
  MetricsServer::Release(*std::move(server));
  EXPECT_NE(Scrape(address).find("200 OK"), std::string::npos);
  EXPECT_EQ(scrapes, 1);
}

TEST(MetricsServerTest, NamesWhereItCannotListen) {
  const auto why = [](const HostPort& listen) {
    return std::string(MetricsServer::Start(listen, [](MetricList&) {}).status().message());
  };
  EXPECT_EQ(why({.host = "192.0.2.1", .port = 1}),
            "--metrics: listening on 192.0.2.1:1: Cannot assign requested address");
  EXPECT_EQ(why({.host = "::1", .port = 9100}),
            "--metrics: [::1]:9100: metrics are served on IPv4 alone; name an IPv4 address");
  const auto first = MetricsServer::Start({.host = "127.0.0.1", .port = 0}, [](MetricList&) {});
  ASSERT_TRUE(first.ok()) << first.status();
  const HostPort taken = (*first)->address();
  EXPECT_EQ(why(taken), "--metrics: listening on " + taken.ToString() + ": Address already in use");
}

}  // namespace
}  // namespace bspnow
