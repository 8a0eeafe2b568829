#include "worker/worker_metrics.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "net/socket.h"

namespace bspnow::worker {
namespace {

std::string Scrape(const std::string& address) {
  const auto connected = BeginConnect(*Resolve(*ParseHostPort(address)), SocketOptions{});
  if (!connected.ok()) return "";
  pollfd watched{connected->get(), POLLOUT, 0};
  poll(&watched, 1, -1);
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  if (send(connected->get(), request.data(), request.size(), 0) < 0) return "";
  std::string answer;
  watched.events = POLLIN;
  for (char bytes[4096]; poll(&watched, 1, -1) > 0;) {
    const ssize_t n = recv(connected->get(), bytes, sizeof bytes, 0);
    if (n <= 0) break;
    answer.append(bytes, static_cast<std::size_t>(n));
  }
  return answer;
}

TEST(WorkerMetricsTest, AScrapeAsksTheLoop) {
  EventLoop loop;
  WorkerFigures figures;
  figures.exchange.bytes_out = 1234;
  figures.exchange.refused_frames["crc"] = 5;
  figures.slots = 8;
  figures.lease_valid = true;
  const auto metrics = WorkerMetrics::Serve(loop, "127.0.0.1:0", [&figures] { return figures; });
  ASSERT_TRUE(metrics.ok());
  std::string answer;
  std::jthread scraper([&] {
    answer = Scrape(metrics->address());
    loop.Post([&loop] { loop.Stop(); });
  });
  loop.Run();
  scraper.join();
  for (const char* line :
       {"bspnow_worker_bytes_total{direction=\"out\"} 1234", "bspnow_slots 8",
        "bspnow_frames_refused_total{reason=\"crc\"} 5", "bspnow_lease_valid 1"}) {
    EXPECT_NE(answer.find(line), std::string::npos) << line << "\n" << answer;
  }
}

TEST(WorkerMetricsTest, SaysWhyItCannotServe) {
  EventLoop loop;
  EXPECT_FALSE(WorkerMetrics::Serve(loop, "nonsense", [] { return WorkerFigures{}; }).ok());
  EXPECT_FALSE(WorkerMetrics::Serve(loop, "192.0.2.1:1", [] { return WorkerFigures{}; }).ok());
}

}  // namespace
}  // namespace bspnow::worker
