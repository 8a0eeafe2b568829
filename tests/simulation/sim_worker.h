// A worker of the simulation: what the daemon has of sockets and threads is made up here; what it
// decides is the product's (HostedJobs, CoordinatorSession, and NodeExchange and Retention).
#ifndef TESTS_SIMULATION_SIM_WORKER_H_
#define TESTS_SIMULATION_SIM_WORKER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/sim_streams.h"
#include "worker/core/coordinator_session.h"
#include "worker/core/hosted_jobs.h"
#include "worker/core/peer_watch.h"
#include "worker/exchange/early_begins.h"

namespace bspnow {

class SimWorker final : public SimWorkerPort,
                        private SimPartner,
                        private SimNodeHost,
                        private worker::JobHosting {
 public:
  struct Identity {
    std::string name;
    std::string images_address;  ///< By which other workers find it.
    std::uint32_t slots;
    std::uint64_t incarnation;
    std::uint64_t orphan_timeout_ns;
    SimDrift drift_ppm;
  };
  struct Surroundings {
    std::function<SimCoordinator*()> coordinator;  ///< Who answers there now; nullptr: nobody.
    FindStreams streams;
    /// That lives, and has images at this address; or nullptr.
    std::function<SimWorker*(const std::string&)> worker_at;
    SimStore& store;
    SimLanes& lanes;
    std::string share;  ///< Of all nodes, for images; or empty.
  };

  SimWorker(SimLoop& loop, SimOracle& oracle, Identity identity, Surroundings surroundings);

  WorkerId id() const { return id_; }
  const std::string& name() const { return identity_.name; }
  const std::string& images_address() const { return identity_.images_address; }
  SimStreams& streams() { return streams_; }
  bool dead() const { return streams_.dead(); }
  /// Alive, connected, and so is its machine.
  bool undisturbed() const;
  /// Processes of the job that it has not given up.
  bool HasAnyOf(JobId job) const;
  /// They may pass barriers, were somebody to release them or nobody else needed for that.
  bool MayRun(JobId job) const;
  /// No job is here.
  bool IsIdle() const { return jobs_.jobs() == 0; }

  // ---- Faults.

  /// kill -9: the other side sees a broken connection; its processes end a moment later.
  void Die();
  /// The machine: nothing of it is left.
  void LosePower();
  /// As on SIGTERM: it ends its jobs, waits for its last words to be acknowledged, and dies.
  void End();
  /// The same with --drain-timeout: it asks to be left first.
  void Leave(std::uint64_t drain_ns);
  void PauseDaemon(std::uint64_t ns) { loop_.Pause(daemon_, ns); }
  /// Its daemon answers, and nothing else gets on.
  void PauseProcesses(std::uint64_t ns) { loop_.Pause(processes_, ns); }
  void PauseMachine(std::uint64_t ns);
  /// All that it does takes its time, and goes on.
  void SlowDown(std::uint64_t ns, std::uint64_t event_ns) {
    loop_.SlowDown(daemon_, ns, event_ns);
    loop_.SlowDown(processes_, ns, event_ns);
  }
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
  /// Its control stream opens for so long, and brings no order until its keepalive breaks it.
  void LoseOrders(std::uint64_t ns) {
    no_orders_until_ns_ = loop_.now_ns() + ns;
    BreakControl();
  }
  /// One direction of its control or frame stream loses all, until the worker misses what should
  /// come there or be answered.
  void HalveAStream();
  /// Its machine gets another address: all connections lose what is sent, and are missed in time.
  void Move();
  /// For so long it starts nothing: its disk is full, say.
  void FallSick(std::uint64_t ns) { sick_until_ns_ = loop_.now_ns() + ns; }
  /// For so long a start there waits for what it needs.
  void HangStarts(std::uint64_t ns) { hanging_until_ns_ = loop_.now_ns() + ns; }
  /// A start that begins there in that time waits for ever, unless it is told to stop.
  void HangStartsForGood(std::uint64_t ns) { hanging_for_good_until_ns_ = loop_.now_ns() + ns; }
  /// For so long nothing can be killed there.
  void Jam(std::uint64_t ns) { jammed_until_ns_ = loop_.now_ns() + ns; }
  void SlowDiskDown(std::uint64_t ns) { disk_.SlowDown(ns); }
  bool KillOneProcess();
  bool KillOneHost();

 private:
  using Link = std::shared_ptr<SimLink>;
  using Key = std::pair<JobId, Epoch>;

  // ---- From the coordinator.

  void OnOrder(const Link& control, const proto::Order& order) override;
  void OnAcknowledge(const Link& control, std::uint64_t sequence) override;
  void OnForgotten(const Link& control) override;
  void OnPeersChanged(const proto::PeersChanged& change);
  void OnFrame(const Link& link, const SimFrameBytes& frame) override;
  void OnWelcome();

  // ---- From other workers.

  SimStore& store() override { return surroundings_.store; }
  void OnImagesReceived(JobId job, std::uint64_t checkpoint) override;
  SimPartner* Reach(const std::string& images_address);
  void Probe(const worker::PeerAddress& peer);
  void OnStreamFailed(WorkerId peer, const SimStreams::Epochs& epochs);

  // ---- From its nodes.

  std::unique_ptr<worker::JobHost> Host(worker::HostedJob& job) override;
  void Forget(const SimNode& node) override;
  std::uint32_t TakeEarlyBegin(JobId job, Epoch epoch) override {
    return early_begins_.Take(job, epoch);
  }
  void SendOfJob(const SimNode& node, FrameKind kind, std::uint64_t superstep,
                 std::span<const std::byte> payload) override;
  std::uint64_t clock_ns() const override { return loop_.ClockNs(identity_.drift_ppm); }
  bool sick() const override { return loop_.now_ns() < sick_until_ns_; }
  std::uint64_t hanging_ns() const override {
    if (loop_.now_ns() < hanging_for_good_until_ns_) return kForGood;
    return std::max(hanging_until_ns_, loop_.now_ns()) - loop_.now_ns();
  }
  bool HasOlderEpoch(const SimNode& node) const override;
  std::uint64_t jammed_ns() const override {
    return std::max(jammed_until_ns_, loop_.now_ns()) - loop_.now_ns();
  }
  absl::StatusOr<SimImage> Collect(JobId job, const proto::Resume& resume,
                                   const proto::ImageOfPid& image) override {
    return disk_.Collect(job, resume, image);
  }
  void OnWritten(JobId job, std::uint64_t checkpoint,
                 const std::map<std::uint32_t, SimImage>& images) override {
    disk_.OnWritten(job, checkpoint, images);
  }

  // ---- Towards the coordinator.

  Link MakeLink(SimCoordinator* coordinator);
  void RegisterLater();
  void Register();
  void RegisterLateAgain(SimCoordinator& coordinator, const proto::RegisterRequest& request);
  proto::RegisterRequest Describe();
  proto::RegisterRequest Located() const;
  void OnRegistered(const proto::RegisterReply& reply);
  void LookForCoordinator();
  void Attach();
  void AttachLater();
  void Report(proto::WorkerEvent event);
  void SayThatItLeaves();
  void CheckTaken(const proto::StartJob& start) const;
  void CheckReleasedLater(const proto::ReleaseHeld& order);
  void WriteEvents();
  void Connect();
  void RenewLease(std::uint64_t every_ms) override;
  void Beat(const Link& link, std::uint64_t series);
  void SendFrame(FrameHeader header, std::span<const std::byte> payload);

  void OnPeerFrame(const SimFrame& frame);
  /// nullptr if it is not here, or takes no frames.
  SimNode* Find(JobId job, Epoch epoch) const;
  SimNode* AnyNode() const;
  void Disappear(std::uint64_t processes_for_ns);

  SimLoop& loop_;
  SimOracle& oracle_;
  const Identity identity_;
  const Surroundings surroundings_;
  const SimLoop::ActorPtr daemon_ = std::make_shared<SimLoop::Actor>();
  const SimLoop::ActorPtr processes_ = std::make_shared<SimLoop::Actor>();
  SimStreams streams_;
  SimDisk disk_;

  WorkerId id_{0};
  std::uint32_t term_ = 0;
  std::uint64_t heartbeat_ns_ = 0;
  std::uint64_t heartbeats_ = 0;  ///< Series of them, of which the last one counts.
  std::uint64_t moves_ = 0;
  std::uint64_t registrations_ = 0;  ///< Calls.
  Link registering_;
  SimCoordinator* control_at_ = nullptr;
  Link control_;
  SimCoordinator* frames_at_ = nullptr;
  Link frames_;
  bool welcome_ = false;
  bool leaves_ = false;
  bool ends_ = false;
  std::uint64_t registered_ = 0;  ///< How often it has said what lies here.
  std::set<Key> refused_;         ///< Epochs that it has not started.
  std::uint64_t cut_off_until_ns_ = 0;
  std::array<std::uint64_t, 2> stalled_until_ns_{};
  std::uint64_t sick_until_ns_ = 0;
  std::uint64_t hanging_until_ns_ = 0;
  std::uint64_t hanging_for_good_until_ns_ = 0;
  std::uint64_t no_orders_until_ns_ = 0;
  std::uint64_t jammed_until_ns_ = 0;

  worker::EarlyBegins early_begins_;
  std::map<Key, SimNode*> nodes_;  ///< That jobs_ has.
  /// Since it registered.
  std::set<std::pair<JobId, std::vector<std::uint64_t>>> keeps_ordered_;
  worker::CoordinatorSession session_;
  worker::HostedJobs jobs_;
  worker::PeerWatch peers_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_WORKER_H_
