// What the coordinator's decisions cost in a large cluster: the product's own core
// (coordinator/core), with workers, journal, logs and streams that do nothing and take no time. The
// second figure is of the same in a cluster of a tenth, so that the growth can be read: x10 is
// linear. Run by hand; see README.md.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <stdio.h>
#include <string.h>

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/testing/cluster_fixture.h"
#include "net/frame_body.h"
#include "tests/bench/scale_costs.h"

namespace bspnow::coordinator {
namespace {

struct Sizes {
  std::uint32_t workers;
  std::uint32_t running;  ///< Jobs.
  std::uint32_t queued;   ///< Jobs that wait.

  static constexpr std::uint32_t kSlots = 10;  ///< Of each worker.
  std::uint32_t slots() const { return workers * kSlots; }
};

class ScaleBench final : public ClusterFixture {
 public:
  explicit ScaleBench(const Sizes& sizes) : sizes_(sizes) { SetUp(); }

  Costs Run() {
    JoinAll();
    RunSmallJobs();
    Queue();
    PassesOfScheduler();
    EndsOfProcesses();
    Views();
    JobsThatCanNeverStart();
    LossOfNode();
    return std::move(costs_);
  }

  /// One job on all slots.
  Costs RunLargeJob() {
    JoinAll();
    costs_ = {};
    StartLargeJob();
    Barriers();
    CheckpointAndLoss();
    return std::move(costs_);
  }

 private:
  void TestBody() override {}

  static std::string NameOf(std::uint32_t i) { return absl::StrCat("node", i); }

  /// As real ones are: with labels, and with the features of a processor of today.
  proto::RegisterRequest RegistrationOf(std::uint32_t i) {
    proto::RegisterRequest request = Registration(NameOf(i), Sizes::kSlots);
    proto::NodeSpec& node = *request.mutable_node();
    (*node.mutable_labels())["rack"] = absl::StrCat("r", i % 40);
    node.set_memory_bytes(std::uint64_t{64} << 30);
    for (int feature = 0; feature < 120; ++feature)
      node.add_cpu_features(absl::StrCat("feature", feature));
    return request;
  }

  void JoinAll() {
    const double ns = NsOf([this] {
      for (std::uint32_t i = 0; i < sizes_.workers; ++i) {
        workers_.push_back(Join(RegistrationOf(i)));
        by_id_[workers_.back().id] = i;
      }
      Settle();
    });
    costs_.Add("a worker registers and connects", ns / sizes_.workers);
    world_.frames.sent.clear();
  }

  JobId SubmitOf(std::uint32_t nprocs, std::uint64_t limit_s) {
    proto::SubmitJobRequest request = Request(absl::StrCat("key", ++keys_));
    request.mutable_spec()->set_nprocs(nprocs);
    request.mutable_spec()->set_time_limit_s(limit_s);
    for (int i = 0; i < 40; ++i)
      request.mutable_spec()->add_environment(absl::StrCat("VARIABLE", i, "=value"));
    return Submit(request);
  }

  FakeWorker& WorkerAt(WorkerId id) { return workers_[by_id_.at(id)]; }

  /// All its processes run, in bsp_begin.
  void Begin(JobId job) {
    const JobRecord record = *cluster_->table().Find(job);
    for (const NodeShare& share : SharesOf(record)) {
      std::vector<std::uint32_t> pids;
      for (const Pid pid : share.pids) pids.push_back(Value(pid));
      ReportBegun(WorkerAt(share.worker), job, EpochOf(record), pids);
    }
    Settle();
  }

  /// On a tenth less than all slots; each with a time limit of its own.
  void RunSmallJobs() {
    const std::uint32_t nprocs = sizes_.slots() * 9 / 10 / sizes_.running;
    const double start_ns = NsOf([&] {
      for (std::uint32_t i = 0; i < sizes_.running; ++i)
        running_.push_back(SubmitOf(nprocs, 3600 + 7 * (i * 37 % sizes_.running)));
    });
    costs_.Add("a job is submitted, placed and started", start_ns / sizes_.running);
    const double begin_ns = NsOf([&] {
      for (const JobId job : running_) Begin(job);
    });
    costs_.Add("it begins", begin_ns / sizes_.running);
  }

  /// Of sizes for which there is no room now, each with a time limit of its own.
  void Queue() {
    const std::uint32_t nprocs = sizes_.slots() / 5;
    double ns = 0;
    const auto submit = [&](std::uint32_t until) {
      const std::uint32_t from = keys_ - sizes_.running;
      ns = NsOf([&] {
        for (std::uint32_t i = from; i < until; ++i) SubmitOf(nprocs + i % nprocs, 600 + i % 977);
      });
      ns /= until - from;
    };
    submit(sizes_.queued / 10);
    costs_.Add(absl::StrCat("a pass of the scheduler, ", sizes_.queued / 10, " jobs wait"), Pass(),
               5e6);
    submit(sizes_.queued);
    costs_.Add("a job is submitted and waits, behind all the others", ns);
  }

  /// What makes one pass of the scheduler necessary, and no more.
  double Pass() {
    constexpr int kTimes = 5;
    const double ns = NsOf([this] {
      for (int i = 0; i < kTimes; ++i) {
        cluster_->barriers().OnConnected(workers_.front().id);
        Settle();
      }
    });
    return ns / kTimes;
  }

  void PassesOfScheduler() {
    costs_.Add(absl::StrCat("a pass of the scheduler, ", sizes_.queued, " jobs wait"), Pass(), 5e6);
  }

  void EndsOfProcesses() {
    constexpr std::uint32_t kJobs = 10;
    double exits_ns = 0;
    double last_ns = 0;
    std::uint32_t exits = 0;
    for (std::uint32_t i = 0; i < kJobs; ++i) {
      const JobRecord record = *cluster_->table().Find(running_[i]);
      const std::vector<NodeShare> shares = SharesOf(record);
      std::vector<std::pair<WorkerId, std::uint32_t>> processes;
      for (const NodeShare& share : shares)
        for (const Pid pid : share.pids) processes.emplace_back(share.worker, Value(pid));
      for (const auto& [worker, pid] : processes) {
        const bool last = &pid == &processes.back().second;
        const double ns = NsOf([&, worker = worker, pid = pid] {
          ReportExited(WorkerAt(worker), running_[i], EpochOf(record), pid, 0);
          Settle();
          for (const NodeShare& share : shares)
            if (last) ReportCleared(WorkerAt(share.worker), running_[i], EpochOf(record));
          Settle();
        });
        (last ? last_ns : exits_ns) += ns;
        exits += last ? 0 : 1;
      }
    }
    running_.erase(running_.begin(), running_.begin() + kJobs);
    costs_.Add(absl::StrCat("a process exits, ", sizes_.queued, " jobs wait"), exits_ns / exits,
               1e5);
    costs_.Add("the last one of a job does, and the job ends", last_ns / kJobs);
  }

  void Views() {
    proto::ListJobsRequest list;
    list.set_all(true);
    costs_.Add("a page of jobs is listed", NsOf([&] {
                 cluster_->List(list, [](const absl::StatusOr<proto::ListJobsReply>&) {});
               }));
    costs_.Add("a job that waits is shown",
               NsOf([&] { Show(JobId{sizes_.running + sizes_.queued}); }));
    costs_.Add("nodes are listed", NsOf([&] { cluster_->ListNodes(); }));
    costs_.Add("metrics are looked at", NsOf([&] { cluster_->Figures(); }));
    costs_.Add("a second of leases and timers", NsOf([&] {
                 for (int i = 0; i < 4; ++i) {
                   for (const FakeWorker& worker : workers_) Renew(worker);
                   world_.timers.Advance(250);
                 }
               }));
  }

  void JobsThatCanNeverStart() {
    for (std::uint32_t i = 0; i < sizes_.queued; ++i) SubmitOf(sizes_.slots() + 1, 0);
    costs_.Add(absl::StrCat("a pass, with ", sizes_.queued, " more that can never start"), Pass(),
               5e6);
  }

  void LossOfNode() {
    const WorkerId lost = workers_.back().id;
    cluster_->barriers().OnDisconnected(lost);
    costs_.Add("a node is lost, its jobs with it", NsOf([&] {
                 world_.timers.Advance(900);
                 for (const FakeWorker& worker : workers_)
                   if (worker.id != lost) Renew(worker);
                 world_.timers.Advance(900);
                 Settle();
               }));
    const proto::ListNodesReply nodes = cluster_->ListNodes();
    if (nodes.nodes(nodes.nodes_size() - 1).state() != proto::NODE_LOST) ADD_FAILURE();
  }

  // ---- One job on all slots ---------------------------------------------------------------------

  void StartLargeJob() {
    const double start_ns = NsOf([&] { large_ = SubmitOf(sizes_.slots(), 0); });
    costs_.Add(absl::StrCat("a job with p = ", sizes_.slots(), " is submitted and started"),
               start_ns);
    const auto starts = OrdersOf(workers_.front(), &proto::Order::has_start);
    if (starts.size() != 1) return ADD_FAILURE();
    printf("order to start %u of %u processes: %zu bytes to each worker\n", Sizes::kSlots,
           sizes_.slots(), starts.front().ByteSizeLong());
    const double begin_ns = NsOf([&] { Begin(large_); });
    costs_.Add("a process of it begins", begin_ns / sizes_.slots());
    const FakeWorker& first = WorkerAt(SharesOf(*cluster_->table().Find(large_)).front().worker);
    const double told_ns = NsOf([&] {
      const BeginBody body{.nprocs = sizes_.slots(), .reserved = 0};
      cluster_->barriers().OnFrame(HeaderFrom(first, FrameKind::kBegin), BytesOf(body));
    });
    costs_.Add("all workers are told p", told_ns);
  }

  FrameHeader HeaderFrom(const FakeWorker& worker, FrameKind kind) const {
    FrameHeader header = HeaderOf(kind);
    header.source_worker = Value(worker.id);
    header.job = Value(large_);
    header.epoch = 1;
    return header;
  }

  /// Every worker sends to every other.
  void Barriers() {
    constexpr std::uint64_t kSupersteps = 10;
    std::vector<std::vector<std::byte>> arrives(workers_.size());
    world_.frames.keeps_payload = false;
    double ns = 0;
    for (std::uint64_t barrier = 0; barrier < kSupersteps; ++barrier) {
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        ArriveBody body{};
        body.barrier = barrier;
        body.processes = body.with_data = Sizes::kSlots;
        body.ends_superstep = barrier > 0 ? 1 : 0;
        std::vector<PeerOwed> peers;
        for (const FakeWorker& peer : workers_)
          if (peer.id != workers_[i].id)
            peers.push_back({.worker = Value(peer.id), .reserved = 0, .frames = 3});
        body.peers = static_cast<std::uint32_t>(peers.size());
        EncodeBarrier(body, peers, {}, arrives[i]);
      }
      world_.frames.sent.clear();
      ns += NsOf([&] {
        for (std::size_t i = 0; i < workers_.size(); ++i)
          cluster_->barriers().OnFrame(HeaderFrom(workers_[i], FrameKind::kArrive), arrives[i]);
      });
      if (world_.frames.sent.size() != workers_.size()) ADD_FAILURE();
    }
    costs_.Add("a barrier with total exchange", ns / kSupersteps, 1e7);
  }

  std::vector<std::uint32_t> PidsOn(const FakeWorker& worker) {
    std::vector<std::uint32_t> pids;
    for (const NodeShare& share : SharesOf(*cluster_->table().Find(large_)))
      for (const Pid pid : share.pids)
        if (share.worker == worker.id) pids.push_back(Value(pid));
    return pids;
  }

  void CheckpointAndLoss() {
    // The order to take it came with the release of a barrier.
    std::vector<std::vector<std::uint32_t>> pids;
    for (const FakeWorker& worker : workers_) pids.push_back(PidsOn(worker));
    const double stored_ns = NsOf([&] {
      for (std::size_t i = 0; i < workers_.size(); ++i)
        ReportStored(workers_[i], large_, Epoch{1}, 1, pids[i], sizes_.slots());
      Settle();
    });
    costs_.Add("a checkpoint of all of it is stored", stored_ns);
    const double copied_ns = NsOf([&] {
      for (FakeWorker& worker : workers_)
        for (const proto::Order& order : OrdersOf(worker, &proto::Order::has_copy_checkpoint))
          ReportCopied(worker, large_, 1, order.copy_checkpoint().to_node());
      Settle();
    });
    costs_.Add("its images are copied, and it is committed", copied_ns);
    if (Show(large_).checkpoints().committed() != 1) ADD_FAILURE();

    FakeWorker fresh = Join(RegistrationOf(sizes_.workers));
    const double lost_ns = NsOf([&] {
      ReportExited(workers_[1], large_, Epoch{1}, pids[1].front(), SIGKILL);
      Settle();
      for (FakeWorker& worker : workers_) ReportCleared(worker, large_, Epoch{1});
      Settle();
    });
    costs_.Add("it is lost, cleared away and starts again from there", lost_ns);
    const auto starts = OrdersOf(workers_[1], &proto::Order::has_start);
    if (starts.size() != 2) return ADD_FAILURE();
    printf("order to put %u of them back: %zu bytes to each worker\n", Sizes::kSlots,
           starts.back().ByteSizeLong());
  }

  const Sizes sizes_;
  Costs costs_;
  std::vector<FakeWorker> workers_;
  std::map<WorkerId, std::uint32_t> by_id_;
  std::vector<JobId> running_;
  JobId large_{0};
  std::uint32_t keys_ = 0;
};

int Main(int argc, char** argv) {
  const bool small = argc == 2 && strcmp(argv[1], "--small") == 0;
  if (argc > 1 && !small) {
    fprintf(stderr, "usage: scale [--small]\n");
    return 2;
  }
  spdlog::set_level(spdlog::level::err);
  const Sizes tenth = small ? Sizes{.workers = 10, .running = 10, .queued = 100}
                            : Sizes{.workers = 100, .running = 100, .queued = 1'000};
  const Sizes sizes{
      .workers = 10 * tenth.workers, .running = 10 * tenth.running, .queued = 10 * tenth.queued};
  printf("%u workers with %u slots each, %u jobs run, %u wait\n", sizes.workers, Sizes::kSlots,
         sizes.running, sizes.queued);
  const Costs many_of_a_tenth = ScaleBench(tenth).Run();
  bool kept = ScaleBench(sizes).Run().Print(many_of_a_tenth);
  printf("\none job on all slots\n");
  const Costs large_of_a_tenth = ScaleBench(tenth).RunLargeJob();
  kept &= ScaleBench(sizes).RunLargeJob().Print(large_of_a_tenth);
  // In a small cluster the limits mean nothing: there it is tested that the bench works.
  return testing::Test::HasFailure() || !(kept || small) ? 1 : 0;
}

}  // namespace
}  // namespace bspnow::coordinator

int main(int argc, char** argv) { return bspnow::coordinator::Main(argc, argv); }
