// For tests and measurements: clients and workers as the coordinator sees them, without what a real
// one does.
#ifndef COORDINATOR_TESTING_PEER_STUB_H_
#define COORDINATOR_TESTING_PEER_STUB_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/login/login.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

/// Calls the service Jobs, one call after the other.
class TestClient {
 public:
  /// As the environment says who it is.
  explicit TestClient(const std::string& address);
  TestClient(const std::string& address, const LoginSettings& login);
  ~TestClient();

  /// As grpc_health_probe asks.
  absl::Status CheckHealth();

  absl::Status Upload(const std::string& sha256, const std::string& content);
  absl::StatusOr<proto::FindMissingBlobsReply> FindMissing(const std::string& sha256);
  absl::StatusOr<JobId> Submit(const proto::JobSpec& spec, const std::string& key);
  absl::StatusOr<proto::Job> Show(JobId job);
  absl::StatusOr<proto::Job> Wait(JobId job);
  absl::StatusOr<proto::Job> Cancel(JobId job);
  /// All text, "pid:text" of each message, "-:text" of the service's own.
  absl::StatusOr<std::string> ReadLog(const proto::ReadLogRequest& request);
  absl::StatusOr<proto::ListNodesReply> Nodes();
  absl::StatusOr<proto::Node> Drain(const std::string& node);
  /// The file's bytes.
  absl::StatusOr<std::string> Fetch(JobId job, const std::string& name);
  /// The bytes of all its files, and of the program.
  absl::StatusOr<std::string> ReadProfile(JobId job);

  // ---- The one job that it attaches to. ---------------------------------------------------------
  void Attach(JobId job, const std::string& key, const std::vector<proto::StreamEnd>& seen = {});
  void Say(const proto::ToJob& message);
  /// Nothing at the end of the stream.
  std::optional<proto::FromJob> Hear();
  absl::Status EndAttached();
  void BreakAttached();

 private:
  struct Parts;  // Of gRPC.
  std::unique_ptr<Parts> parts_;
};

/// Calls the service Workers.
class TestWorker {
 public:
  TestWorker(const std::string& address, const std::string& name, std::uint64_t incarnation);
  ~TestWorker();

  proto::RegisterRequest& request() { return request_; }
  /// Opens the frame stream, too.
  absl::StatusOr<proto::RegisterReply> Register();

  /// Opens the control stream, with what it has taken already.
  void Attach();
  /// The next order; waits for it. Not acknowledgements, nor news of peers, which come by a timer.
  /// Nothing at the end of the stream.
  std::optional<proto::Order> Take();
  /// Takes orders until this sequence is acknowledged; false at the end of the stream.
  [[nodiscard]] bool AwaitAcknowledged(std::uint64_t sequence);
  /// With the next number. Of the job and epoch of the last StartJob.
  std::uint64_t Report(proto::WorkerEvent event);
  /// The control stream.
  void Break();
  void BreakFrames();
  absl::Status End();

  absl::StatusOr<std::string> ReadBlob(const std::string& sha256);
  absl::Status StoreFile(JobId job, const std::string& name, const std::string& content);
  absl::Status StoreProfile(JobId job, const std::string& name, const std::string& content);

 private:
  struct Parts;  // Of gRPC.

  void OpenFrames(const proto::RegisterReply& reply);
  std::optional<proto::Order> TakeAny();

  std::unique_ptr<Parts> parts_;
  proto::RegisterRequest request_;
  std::uint32_t id_ = 0;
  std::uint64_t term_ = 0;
  std::uint64_t last_event_ = 0;
  std::uint64_t orders_taken_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t job_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_TESTING_PEER_STUB_H_
