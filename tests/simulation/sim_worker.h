// A worker of the simulation: NodeExchange for each job and Retention for each stream as they are;
// around them what the daemon does: it registers, keeps what it reports until that is acknowledged,
// renews its lease, and hands images to its store.
#ifndef TESTS_SIMULATION_SIM_WORKER_H_
#define TESTS_SIMULATION_SIM_WORKER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/sim_streams.h"

namespace bspnow {

class SimWorker final : public SimWorkerPort, private SimNodeHost {
 public:
  struct Identity {
    std::string name;
    std::uint32_t slots;
    std::uint64_t incarnation;
  };
  struct Surroundings {
    std::function<SimCoordinator*()> coordinator;  ///< Who answers there now; nullptr: nobody.
    FindStreams streams;
    std::function<SimWorker*(const std::string&)> worker_named;  ///< That lives; or nullptr.
    SimStore& store;
    std::string share;  ///< Of all nodes, for images; or empty.
  };

  SimWorker(SimLoop& loop, SimOracle& oracle, Identity identity, Surroundings surroundings);

  WorkerId id() const { return id_; }
  SimStreams& streams() { return streams_; }
  const SimStore& store() const { return surroundings_.store; }
  bool dead() const { return streams_.dead(); }
  /// Alive, connected, and so is its machine.
  bool undisturbed() const;
  /// Processes of the job that it has not given up.
  bool HasAnyOf(JobId job) const;
  /// Processes of any job.
  bool IsIdle() const;

  // ---- Faults.

  /// kill -9: nothing of it is left, and nobody is told.
  void Die();
  void PauseDaemon(std::uint64_t ns) { loop_.Pause(daemon_, ns); }
  void PauseMachine(std::uint64_t ns);
  bool paused() const { return daemon_->pauses != 0; }
  void BreakFrames() {
    if (frames_) frames_->Break();
  }
  void BreakControl() {
    if (control_) control_->Break();
  }
  /// The network between it and the coordinator: breaks, and stays so until then.
  void CutOff(std::uint64_t until_ns);
  /// One direction, for so long: what is sent there arrives afterwards.
  void StallOneWay(SimLink::End from, std::uint64_t ns);
  bool cut_off() const { return loop_.now_ns() < cut_off_until_ns_; }
  bool KillOneProcess();

 private:
  using Link = std::shared_ptr<SimLink>;
  using Key = std::pair<JobId, Epoch>;

  // ---- From the coordinator.

  void OnOrder(const Link& control, const proto::Order& order) override;
  void OnAcknowledge(const Link& control, std::uint64_t sequence) override;
  void OnForgotten(const Link& control) override;
  void OnFrame(const Link& link, const SimFrameBytes& frame) override;
  void Perform(const proto::Order& order);
  void OnStart(const proto::StartJob& start);
  void OnEnd(const proto::EndJob& end);
  void OnTakeCheckpoint(const proto::TakeCheckpoint& take);
  void OnCopy(const proto::CopyCheckpoint& copy);
  void OnKeep(const proto::KeepCheckpoints& keep);
  void OnReleaseHeld(const proto::ReleaseHeld& release_held);
  void OnWelcome();
  void OnLease(std::uint64_t sent_ns);

  // ---- From its nodes.

  void SendOfJob(const SimNode& node, FrameKind kind, std::uint64_t superstep,
                 std::span<const std::byte> payload) override;
  void Report(proto::WorkerEvent event) override;
  void Settle(JobId job, std::uint64_t number, std::map<std::uint32_t, SimImage> images,
              std::function<void(const std::string&)> settled) override;
  void Discard(JobId job, std::uint64_t number) override;
  std::optional<SimImage> Collect(JobId job, const proto::Resume& resume,
                                  const proto::ImageOfPid& image) override;

  // ---- Towards the coordinator.

  Link MakeLink(SimCoordinator* coordinator);
  void RegisterLater();
  void Register();
  proto::RegisterRequest Describe();
  void OnRegistered(const proto::RegisterReply& reply);
  void Attach();
  void AttachLater();
  void WriteEvents();
  void Connect();
  void Beat(const Link& link);
  void SendFrame(FrameHeader header, std::span<const std::byte> payload);

  void OnPeerFrame(const SimFrame& frame);
  SimNode* Find(JobId job, Epoch epoch) const;
  void AbandonAllBut(const std::set<JobId>& kept);
  std::string CopyTo(const proto::CopyCheckpoint& copy, std::uint32_t pid);
  bool HasChain(const SimStore& store, JobId job, std::uint64_t number, std::uint32_t pid);
  void Run(JobId job, std::function<void()> work);
  void BeginWork(JobId job);

  SimLoop& loop_;
  SimOracle& oracle_;
  Identity identity_;
  Surroundings surroundings_;
  SimLoop::ActorPtr daemon_ = std::make_shared<SimLoop::Actor>();
  SimLoop::ActorPtr processes_ = std::make_shared<SimLoop::Actor>();
  SimStreams streams_;

  WorkerId id_{0};
  std::string cluster_;
  std::uint64_t term_ = 0;           ///< Never goes back.
  std::uint64_t registrations_ = 0;  ///< Calls.
  Link registering_;
  SimCoordinator* control_at_ = nullptr;
  Link control_;
  SimCoordinator* frames_at_ = nullptr;
  Link frames_;
  bool welcome_ = false;
  std::deque<proto::WorkerEvent> unacknowledged_;
  std::uint64_t last_sequence_ = 0;  ///< Of the newest of them.
  std::uint64_t sent_sequence_ = 0;  ///< On the present stream.
  std::uint64_t orders_taken_ = 0;
  std::uint64_t lease_until_ns_ = 0;
  std::uint64_t cut_off_until_ns_ = 0;
  std::array<std::uint64_t, 2> stalled_until_ns_{};

  std::map<Key, std::shared_ptr<SimNode>> nodes_;
  std::vector<std::shared_ptr<SimNode>> abandoned_;
  std::map<Key, std::uint32_t> early_begins_;
  std::map<JobId, std::set<std::uint64_t>> kept_;
  std::map<JobId, std::deque<std::function<void()>>> work_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_WORKER_H_
