// A cluster's core in a fake world, with the steps that most tests share.
#ifndef COORDINATOR_CORE_TESTING_CLUSTER_FIXTURE_H_
#define COORDINATOR_CORE_TESTING_CLUSTER_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>
#include "coordinator/core/testing/fake_world.h"

namespace bspnow::coordinator {

inline const Caller kAnAdministrator{.user = "root", .scopes = kAllScopes};

class ClusterFixture : public testing::Test {
 protected:
  void SetUp() override { Start({.cluster = "c1", .term = 1}); }

  void Start(const StoredState& stored) {
    cluster_.reset();
    cluster_ = world_.Start(stored);
  }

  /// A coordinator that finds what the journal was given, one term on.
  void Restart() {
    const std::uint64_t term = ++term_;
    StoredState stored{.cluster = "c1", .term = term};
    for (const auto& [id, record] : world_.journal.records) stored.jobs.push_back(record);
    stored.checkpoints = world_.journal.catalogues;
    world_.journal.calls.clear();
    world_.logs.calls.clear();
    Start(stored);
  }

  // ---- Outcomes ---------------------------------------------------------------------------------

  /// All that waits for the disk is done, and what follows from it, until nothing waits.
  void Settle() {
    for (;;) {
      world_.timers.RunPosted();
      std::deque<PendingCall>& calls =
          world_.journal.calls.empty() ? world_.logs.calls : world_.journal.calls;
      if (calls.empty()) return;
      Finish(calls, absl::OkStatus());
    }
  }
  /// So is all that waits for the journal, until a log has something to do.
  void SettleUntilLog() {
    for (;;) {
      world_.timers.RunPosted();
      if (!world_.logs.calls.empty() || world_.journal.calls.empty()) return;
      Finish(world_.journal.calls, absl::OkStatus());
    }
  }
  /// The oldest call of a port comes to this end.
  static void Finish(std::deque<PendingCall>& calls, const absl::Status& status) {
    ASSERT_FALSE(calls.empty());
    const PendingCall call = std::move(calls.front());
    calls.pop_front();
    call.done(status);
  }
  /// The oldest call of this name comes to its end: jobs' logs are written independently.
  static void FinishOne(std::deque<PendingCall>& calls, const std::string& what) {
    const auto found = std::find_if(calls.begin(), calls.end(),
                                    [&](const PendingCall& call) { return call.what == what; });
    ASSERT_NE(found, calls.end()) << what;
    const PendingCall call = std::move(*found);
    calls.erase(found);
    call.done(absl::OkStatus());
  }
  static std::vector<std::string> Waiting(const std::deque<PendingCall>& calls) {
    std::vector<std::string> names;
    for (const PendingCall& call : calls) names.push_back(call.what);
    return names;
  }

  // ---- Workers ----------------------------------------------------------------------------------

  static proto::RegisterRequest Registration(const std::string& name, std::uint32_t slots) {
    proto::RegisterRequest request;
    request.mutable_node()->set_name(name);
    request.mutable_node()->set_slots(slots);
    request.mutable_node()->set_version(kVersion);
    request.set_protocol_oldest(kProtocolOldest);
    request.set_protocol(kProtocol);
    request.set_data_address(name + ":1");
    request.set_images_address(name + ":2");
    request.set_incarnation(std::hash<std::string>()(name));
    request.set_cluster("c1");
    return request;
  }

  FakeWorker Join(const std::string& name, std::uint32_t slots) {
    return Join(Registration(name, slots));
  }
  /// Of a worker that holds epoch 1 of job 1, in which this process has begun.
  static proto::RegisterRequest Returning(const FakeWorker& worker, std::uint32_t pid) {
    proto::RegisterRequest request = Registration(worker.name, 1);
    request.set_previous_worker(Value(worker.id));
    proto::HeldJob& held = *request.add_held();
    held.set_job(1);
    held.set_epoch(1);
    held.add_begun(pid);
    return request;
  }
  FakeWorker Join(const proto::RegisterRequest& request) {
    FakeWorker worker = Introduce(request);
    Connect(worker);
    return worker;
  }
  /// Only its control stream stands.
  FakeWorker Introduce(const proto::RegisterRequest& request) {
    const auto reply = cluster_->Register(request);
    EXPECT_TRUE(reply.ok()) << reply.status();
    FakeWorker worker{.id = WorkerId{reply->worker()}, .name = request.node().name()};
    proto::WorkerEvent first;
    first.set_worker(reply->worker());
    first.set_incarnation(request.incarnation());
    first.set_term(reply->term());
    EXPECT_EQ(cluster_->AttachWorker(first, worker.sink), absl::OkStatus());
    worker.incarnation = request.incarnation();
    worker.term = static_cast<std::uint32_t>(reply->term());
    return worker;
  }
  void Connect(const FakeWorker& worker) {
    EXPECT_EQ(Hello(worker), FrameFault::kNone);
    cluster_->barriers().OnConnected(worker.id);
  }

  /// Its frame stream begins.
  FrameFault Hello(const FakeWorker& worker) {
    const HelloBody hello{.incarnation = worker.incarnation, .target = 0, .term = worker.term};
    FrameHeader header = HeaderOf(FrameKind::kHello);
    header.source_worker = Value(worker.id);
    return cluster_->barriers().OnHello(header, BytesOf(hello));
  }

  void Renew(const FakeWorker& worker) {
    const HeartbeatBody body{.sent_ns = 0};
    FrameHeader header = HeaderOf(FrameKind::kHeartbeat);
    header.source_worker = Value(worker.id);
    cluster_->barriers().OnFrame(header, BytesOf(body));
  }

  absl::Status Report(FakeWorker& worker, proto::WorkerEvent event) {
    event.set_sequence(++worker.last_event);
    return cluster_->OnEvent(worker.id, std::move(event));
  }
  static proto::WorkerEvent EventOf(JobId job, Epoch epoch) {
    proto::WorkerEvent event;
    event.set_job(Value(job));
    event.set_epoch(Value(epoch));
    return event;
  }
  void ReportBegun(FakeWorker& worker, JobId job, Epoch epoch, std::vector<std::uint32_t> pids) {
    proto::WorkerEvent event = EventOf(job, epoch);
    event.mutable_started();
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
    for (const std::uint32_t pid : pids) {
      event.mutable_begun()->set_pid(pid);
      EXPECT_EQ(Report(worker, event), absl::OkStatus());
    }
  }
  void ReportOutput(FakeWorker& worker, JobId job, Epoch epoch) {
    proto::WorkerEvent event = EventOf(job, epoch);
    event.mutable_output()->set_text("x\n");
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
  }
  void ReportExited(FakeWorker& worker, JobId job, Epoch epoch, std::uint32_t pid, int signal) {
    proto::WorkerEvent event = EventOf(job, epoch);
    event.mutable_exited()->set_pid(pid);
    event.mutable_exited()->set_signal(signal);
    event.mutable_exited()->set_reached(
        static_cast<std::uint32_t>(signal == 0 ? Reached::kEnded : Reached::kRunning));
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
  }
  void ReportCleared(FakeWorker& worker, JobId job, Epoch epoch,
                     const std::string& files_lost = "") {
    proto::WorkerEvent event = EventOf(job, epoch);
    event.mutable_cleared()->set_files_lost(files_lost);
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
  }
  void ReportStored(FakeWorker& worker, JobId job, Epoch epoch, std::uint64_t checkpoint,
                    const std::vector<std::uint32_t>& pids, std::uint32_t participants = kNprocs,
                    std::uint64_t superstep = 1) {
    proto::WorkerEvent event = EventOf(job, epoch);
    proto::CheckpointStored& stored = *event.mutable_checkpoint_stored();
    stored.set_checkpoint(checkpoint);
    stored.set_superstep(superstep);
    stored.set_participants(participants);
    for (const std::uint32_t pid : pids) stored.add_images()->set_pid(pid);
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
  }
  void ReportCopied(FakeWorker& worker, JobId job, std::uint64_t checkpoint,
                    const std::string& to_node) {
    proto::WorkerEvent event = EventOf(job, Epoch{0});
    event.mutable_checkpoint_copied()->set_checkpoint(checkpoint);
    event.mutable_checkpoint_copied()->set_to_node(to_node);
    EXPECT_EQ(Report(worker, event), absl::OkStatus());
  }

  /// The job, on this node alone, is in superstep `supersteps`.
  void ReportProgress(const FakeWorker& worker, JobId job, Epoch epoch, std::uint64_t supersteps) {
    ProgressBody body{};
    body.totals.supersteps = supersteps;
    body.totals.group_supersteps = 2 * supersteps;
    body.superstep = supersteps;
    body.processes = kNprocs;
    FrameHeader header = HeaderOf(FrameKind::kProgress);
    header.source_worker = Value(worker.id);
    header.job = Value(job);
    header.epoch = Value(epoch);
    EXPECT_EQ(cluster_->barriers().OnFrame(header, BytesOf(body)), FrameFault::kNone);
  }

  /// Orders of one kind that the worker has been given.
  template <typename Has>
  static std::vector<proto::Order> OrdersOf(const FakeWorker& worker, Has has) {
    std::vector<proto::Order> found;
    for (const proto::Order& order : worker.sink->orders)
      if ((order.*has)()) found.push_back(order);
    return found;
  }
  static std::size_t Starts(const FakeWorker& worker) {
    return OrdersOf(worker, &proto::Order::has_start).size();
  }
  static std::size_t Ends(const FakeWorker& worker) {
    return OrdersOf(worker, &proto::Order::has_end).size();
  }

  // ---- Jobs -------------------------------------------------------------------------------------

  static constexpr std::uint32_t kNprocs = 2;

  static proto::SubmitJobRequest Request(const std::string& key) {
    proto::SubmitJobRequest request;
    request.set_submission_key(key);
    proto::JobSpec& spec = *request.mutable_spec();
    spec.set_nprocs(kNprocs);
    spec.mutable_program()->set_name("a.out");
    spec.mutable_program()->set_sha256(std::string(64, 'a'));
    spec.add_arguments("a.out");
    spec.mutable_checkpoints()->set_every_supersteps(1);
    return request;
  }

  /// The answer, once there is one.
  using Answer = std::shared_ptr<std::optional<absl::StatusOr<proto::Job>>>;
  static Answer NewAnswer() { return std::make_shared<Answer::element_type>(); }
  static Cluster::OnJob Into(const Answer& answer) {
    return [answer](absl::StatusOr<proto::Job> job) { *answer = std::move(job); };
  }

  /// By its user, who gets the answer when that is durable.
  Answer Cancel(JobId job) {
    const Answer answer = NewAnswer();
    cluster_->Cancel(job, "ada", Into(answer));
    return answer;
  }

  JobId Submit(const proto::SubmitJobRequest& request) {
    std::optional<absl::StatusOr<JobId>> answer;
    cluster_->Submit(kAnAdministrator, request, [&](absl::StatusOr<JobId> job) { answer = job; });
    Settle();
    EXPECT_TRUE(answer.has_value() && answer->ok());
    return **answer;
  }

  /// Two processes on one node run, in bsp_begin.
  JobId Run(FakeWorker& worker) {
    const JobId job = Submit(Request("key"));
    EXPECT_EQ(Starts(worker), 1u);
    ReportBegun(worker, job, Epoch{1}, {0, 1});
    Settle();
    return job;
  }

  proto::Job Show(JobId job) { return *cluster_->Show(job); }

  FakeWorld world_;
  std::uint64_t term_ = 1;
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_TESTING_CLUSTER_FIXTURE_H_
