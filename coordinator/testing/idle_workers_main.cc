// Measures what idle workers cost a coordinator that it starts: they register, hold a control
// stream, and renew their leases.
//
//   idle_workers COUNT SECONDS
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/units.h"
#include "coordinator/testing/daemon_process.h"
#include "coordinator/testing/peer_stub.h"
#include "net/event_loop.h"
#include "net/frame_check.h"
#include "net/frame_stream.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"

namespace bspnow::coordinator {
namespace {

/// Processor time that the threads of a process have used so far. Not from /proc/PID/stat: that
/// counts ticks, and who runs for some microseconds at a time may have all of them or none.
double ProcessorSecondsOf(pid_t pid) {
  double used_ns = 0;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    double task_ns = 0;
    std::ifstream(task.path() / "schedstat") >> task_ns;
    used_ns += task_ns;
  }
  return used_ns / 1e9;
}

class IdleWorker {
 public:
  IdleWorker(EventLoop& loop, const std::string& address, int number)
      : loop_(loop),
        control_(address, "w" + std::to_string(number), static_cast<std::uint64_t>(number)) {
    const auto reply = control_.Register();
    BSP_CHECK(reply.ok());
    control_.Attach();
    id_ = reply->worker();
    heartbeat_ms_ = reply->idle_heartbeat_ms();
    const auto barrier = Resolve(*ParseHostPort(reply->barrier_address()));
    FrameStreamEvents events;
    key_ = *StreamKey::FromBytes(reply->stream_key());
    events.frame = [this, number](const FrameHeader& header, std::span<const std::byte> payload) {
      if (FrameKind{header.kind} == FrameKind::kChallenge) return Prove(payload, number);
      ++answers_;
      return FrameFault::kNone;
    };
    events.closed = [](const absl::Status&) { BSP_CHECK(!"the coordinator closed the stream"); };
    stream_ =
        std::make_unique<FrameStream>(loop, *barrier, SocketOptions{}, key_, std::move(events));
    const HelloBody hello{.incarnation = static_cast<std::uint64_t>(number),
                          .target = 0,
                          .term = static_cast<std::uint32_t>(reply->term())};
    FrameHeader header = HeaderOf(FrameKind::kHello);
    header.source_worker = id_;
    proof_.emplace(header, BytesOf(hello));
    stream_->Send(proof_->header(), proof_->payload());
  }

  std::uint64_t answers() const { return answers_; }

 private:
  FrameFault Prove(std::span<const std::byte> challenge, int number) {
    ProofBody answer;
    const FrameFault fault = proof_->OnChallenge(key_, challenge, answer);
    Send(FrameKind::kProof, BytesOf(answer));
    loop_.AddTimer(heartbeat_ms_ * static_cast<std::uint64_t>(number % 97) / 97,
                   [this] { Beat(); });
    return fault;
  }

  void Send(FrameKind kind, std::span<const std::byte> body) {
    FrameHeader header = HeaderOf(kind);
    header.source_worker = id_;
    stream_->Send(header, body);
  }

  void Beat() {
    const HeartbeatBody body{.sent_ns = NowNs()};
    Send(FrameKind::kHeartbeat, BytesOf(body));
    loop_.AddTimer(heartbeat_ms_, [this] { Beat(); });
  }

  EventLoop& loop_;
  TestWorker control_;
  std::uint32_t id_ = 0;
  std::uint64_t heartbeat_ms_ = 0;
  std::uint64_t answers_ = 0;
  StreamKey key_;
  std::optional<ConnectingProof> proof_;
  std::unique_ptr<FrameStream> stream_;
};

void Measure(int count, std::uint64_t seconds) {
  const ScratchDirectory scratch;
  DaemonProcess daemon(scratch.path(), {"--log-level", "warning"});
  EventLoop loop;
  std::vector<std::unique_ptr<IdleWorker>> workers;
  for (int i = 1; i <= count; ++i)
    workers.push_back(std::make_unique<IdleWorker>(loop, daemon.Address("listen"), i));
  constexpr std::uint64_t kSettleMs = 2000;
  double used_s = 0;
  std::uint64_t begun_ns = 0;
  loop.AddTimer(kSettleMs, [&] {
    used_s = ProcessorSecondsOf(daemon.pid());
    begun_ns = NowNs();
  });
  loop.AddTimer(kSettleMs + seconds * 1000, [&] { loop.Stop(); });
  loop.Run();
  used_s = ProcessorSecondsOf(daemon.pid()) - used_s;
  const double took_s = static_cast<double>((NowNs() - begun_ns) / kNsPerMs) / 1000;
  std::uint64_t answers = 0;
  for (const auto& worker : workers) answers += worker->answers();
  std::printf("workers=%d seconds=%.1f leases_renewed=%llu coordinator_percent_of_a_core=%.2f\n",
              count, took_s, static_cast<unsigned long long>(answers), 100 * used_s / took_s);
}

}  // namespace
}  // namespace bspnow::coordinator

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: idle_workers COUNT SECONDS\n");
    return 2;
  }
  bspnow::coordinator::Measure(std::atoi(argv[1]), static_cast<std::uint64_t>(std::atoi(argv[2])));
  return 0;
}
