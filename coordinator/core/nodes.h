// The nodes of the cluster: all that the coordinator knows of each is in one object. On the loop's
// thread.
#ifndef COORDINATOR_CORE_NODES_H_
#define COORDINATOR_CORE_NODES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/jobs/placement.h"
#include "coordinator/core/lease.h"
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

/// A node of the cluster, by its name. It is up from the registration of its worker until that one
/// is lost; then only what a later worker of this name inherits is left.
struct Node : SchedulerNode {
  // ---- Whether it is up or not ------------------------------------------------------------------

  /// The last one; without a name if it has never been up.
  proto::RegisterRequest registration{};

  std::string why_lost{};    ///< The last time.
  std::uint32_t faults = 0;  ///< In a row: jobs that it could not start, and other nodes could.
  std::string fault{};       ///< The last one's reason; empty: it is sound.
  bool left = false;         ///< Its worker was told to end, moved its jobs, and has ended.
  std::uint64_t loss = 0;    ///< Which of all losses was its last one; 0: it was never up.

  // ---- While it is up ---------------------------------------------------------------------------

  proto::RegisterReply reply{};  ///< To be given again if it got lost.
  bool attached = false;         ///< The worker has received the reply.
  /// The control stream.
  WorkerSession session{};
  std::deque<proto::WorkerEvent> after_output{};  ///< They follow output that is being written.
  std::shared_ptr<OrderSink> sink{};              ///< nullptr while it has no stream,
  std::uint64_t no_control_since_ns = 0;          ///< since then.
  std::uint64_t owed_order = 0;     ///< The first one that the stream began with; 0: none.
  std::uint64_t owed_since_ns = 0;  ///< When the first stream that was to bring it began, and
  std::uint32_t vain_streams = 0;   ///< how many have ended since then.
  bool may_leave = false;           ///< It has been sent Leave.
  std::string given_up{};           ///< Why its lease is to end; empty: it is not.

  /// Whose checkpoints it keeps, and nobody knows the jobs.
  std::vector<JobId> unknown_jobs{};

  /// The frame stream.
  Lease lease{0};

  bool up() const { return worker != WorkerId{0}; }
  /// Both streams stand: it may be given processes.
  bool usable() const { return sink != nullptr && lease.connected(); }
  /// Why it counts as lost now; empty: it does not. See Lease::WhyLost.
  std::string WhyLost(std::uint64_t now_ns) const;
  /// Why its lease is to end though it renews it; empty: it is not, or does already.
  std::string WhyDeaf(std::uint64_t now_ns) const;
  /// Nobody could be heard for this long: the coordinator itself was paused.
  void OnPaused(std::uint64_t ns, std::uint64_t now_ns);
  bool lost() const { return !up() && !registration.node().name().empty(); }
  /// It could not start a job that runs elsewhere: it rests, longer each time.
  void OnFault(const std::string& reason, std::uint64_t now_ns);
  /// Renews its lease, but does not carry out its orders: it gets no frame stream any more, and is
  /// lost when its lease is over.
  void GiveUp(const std::string& reason, std::uint64_t now_ns);
  /// A job has started on it.
  void OnSound();
  /// To users, who may have drained it before it was ever up.
  bool known() const { return up() || lost() || drained; }
  void Order(proto::Order order);
  void Acknowledge();
  /// A control stream begins, and with it what the worker has not taken.
  void OnStreamBegins(std::uint64_t now_ns);
  /// Its worker says where it is. True: elsewhere than before.
  bool OnAddresses(const proto::WorkerEvent& first);
};

/// Ok if a worker of this description may join.
absl::Status CheckRegistration(const proto::RegisterRequest& request);

/// Whether both say that the same epochs of the same jobs run on the worker.
bool HoldTheSame(const proto::RegisterRequest& a, const proto::RegisterRequest& b);

/// The worker knows that it was never told to start this epoch, nor a later one of the job.
bool WasNeverOrdered(const proto::RegisterRequest& request, JobId job, Epoch epoch);

/// It would have to give up what it keeps: it is not to be registered.
bool KeepsOfAnotherCluster(const proto::RegisterRequest& request, const std::string& cluster);

/// Lost ones that are remembered: containers come with new names.
inline constexpr std::size_t kLostNodesMax = 1'000;

class Nodes {
 public:
  /// Each term of the coordinator has ids of its own: peers know a worker's streams by its id. An
  /// older journal gives a term out again: they begin at another one, by the key of the run.
  explicit Nodes(std::uint64_t term, std::uint64_t term_key = 0)
      : term_(term),
        last_id_(static_cast<std::uint32_t>((term % kTermsOfIds) * kIdsOfTerm +
                                            term_key % kFirstIdsOfTerm)) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  Nodes(Nodes&&) = default;
  Nodes& operator=(Nodes&&) = default;

  /// For a worker that this coordinator has not met: an id that nobody had before.
  WorkerId NewId() { return WorkerId{++last_id_}; }
  /// The node is up, and its lease begins. Neither its name nor the id may be up.
  Node& Add(WorkerId id, const proto::RegisterRequest& request, std::uint64_t now_ns);
  /// Closes its control stream with `reason`.
  void Remove(WorkerId worker, const absl::Status& reason);
  /// `name` need not have been up.
  Node& Named(const std::string& name);

  /// One that is not up: it is as if it had never been.
  void Forget(const std::string& name);

  /// nullptr unless it is up.
  Node* Find(WorkerId worker);
  const Node* Find(WorkerId worker) const;
  Node* FindUp(const std::string& name);
  const Node* FindUp(const std::string& name) const;
  /// Those that are up, by worker id.
  const std::map<WorkerId, Node*>& up() const { return up_; }
  /// One that is up and runs programs of jobs as `account`, of its pool; nullptr if none does.
  const Node* WithInPool(const std::string& account) const;
  /// All that have been up, or were drained in advance.
  const std::map<std::string, Node>& all() const { return nodes_; }

  /// The worker's control stream; what the worker has not taken goes out at once. An earlier stream
  /// is closed.
  absl::Status Attach(const proto::WorkerEvent& first, std::shared_ptr<OrderSink> sink,
                      std::uint64_t now_ns);
  /// Does nothing if it has another stream by now.
  void Detach(WorkerId worker, const OrderSink* sink, std::uint64_t now_ns);

  /// To a worker that is not up: nothing happens.
  void Order(WorkerId worker, proto::Order order);

 private:
  static constexpr std::uint32_t kTermsOfIds = 1 << 12;
  static constexpr std::uint32_t kIdsOfTerm = 1 << 20;
  static constexpr std::uint32_t kFirstIdsOfTerm = kIdsOfTerm / 2;

  std::uint64_t term_;
  std::uint32_t last_id_;
  std::uint64_t losses_ = 0;
  std::map<std::string, Node> nodes_;
  std::map<WorkerId, Node*> up_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_NODES_H_
