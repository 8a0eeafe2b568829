// The workers that have registered, and their control streams. On the loop's thread.
#ifndef COORDINATOR_CORE_WORKER_ROSTER_H_
#define COORDINATOR_CORE_WORKER_ROSTER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/worker_session.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

/// One control stream, on its way to the worker. Called on the loop's thread, never blocks.
class OrderSink {
 public:
  virtual ~OrderSink() = default;
  virtual void Send(const proto::Order& order) = 0;
  /// Later numbers replace earlier ones that have not left yet.
  virtual void Acknowledge(std::uint64_t sequence) = 0;
  virtual void Close(const absl::Status& reason) = 0;
};

struct RegisteredWorker {
  WorkerId id{0};
  proto::RegisterRequest registration;
  proto::RegisterReply reply;  ///< To be given again if it got lost.
  bool attached = false;       ///< It did not.
  double load = 0;
  WorkerSession session;
  std::deque<proto::WorkerEvent> after_output{};  ///< They follow output that is being written.
  std::shared_ptr<OrderSink> sink;                ///< nullptr while it has no stream.

  const std::string& name() const { return registration.node().name(); }
};

/// Ok if a worker of this description may join.
absl::Status CheckRegistration(const proto::RegisterRequest& request);

/// Whether both say that the same epochs of the same jobs run on the worker.
bool HoldTheSame(const proto::RegisterRequest& a, const proto::RegisterRequest& b);

/// It would have to give up what it keeps: it is not to be registered.
bool KeepsOfAnotherCluster(const proto::RegisterRequest& request, const std::string& cluster);

class WorkerRoster {
 public:
  /// Each term of the coordinator has ids of its own: peers know a worker's streams by its id.
  explicit WorkerRoster(std::uint64_t term)
      : term_(term), last_id_(static_cast<std::uint32_t>(term % kTermsOfIds) * kIdsOfTerm) {}

  /// With an id that nobody had before. The name must be free.
  RegisteredWorker& Add(const proto::RegisterRequest& request);
  /// With the id that it had before this coordinator's start. Name and id must be free.
  RegisteredWorker& AddReturned(const proto::RegisterRequest& request);
  /// Closes its stream with `reason`. It is listed as lost until one of its name comes again.
  void Remove(WorkerId worker, const absl::Status& reason);

  RegisteredWorker* Find(WorkerId worker);
  RegisteredWorker* FindByName(const std::string& name);
  const std::map<WorkerId, RegisteredWorker>& workers() const { return workers_; }
  /// By name.
  const std::map<std::string, proto::RegisterRequest>& lost() const { return lost_; }

  /// The worker's stream; what it has not taken goes out at once. An earlier stream is closed.
  absl::Status Attach(const proto::WorkerEvent& first, std::shared_ptr<OrderSink> sink);
  /// Does nothing if it has another stream by now.
  void Detach(WorkerId worker, const OrderSink* sink);

  /// To a worker that is not there: nothing happens.
  void Order(WorkerId worker, proto::Order order);

  void OnLogged(WorkerId worker);
  void Acknowledge(RegisteredWorker& worker);

 private:
  static constexpr std::uint32_t kTermsOfIds = 1 << 12;
  static constexpr std::uint32_t kIdsOfTerm = 1 << 20;

  RegisteredWorker& AddAs(WorkerId id, const proto::RegisterRequest& request);

  std::uint64_t term_;
  std::uint32_t last_id_;
  std::map<WorkerId, RegisteredWorker> workers_;
  std::map<std::string, proto::RegisterRequest> lost_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_WORKER_ROSTER_H_
