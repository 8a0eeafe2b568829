// bsp-worker: the daemon of one node. One loop thread owns the exchange and the jobs; gRPC, disk
// and metrics have threads of their own and post to it.
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/descriptor_room.h"
#include "base/ending_signals.h"
#include "base/exit_status.h"
#include "base/raised_limits.h"
#include "base/standard_descriptors.h"
#include "base/units.h"
#include "net/event_loop.h"
#include "net/log/daemon_log.h"
#include "net/rpc/grpc_log.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/systemd_notify.h"
#include "net/tls/rpc_credentials.h"
#include "worker/advertised_address.h"
#include "worker/checkpoint/image_store.h"
#include "worker/checkpoint/image_transfer.h"
#include "worker/checkpoint/images_service.h"
#include "worker/checkpoint/stored_checkpoints.h"
#include "worker/core/hosted_jobs.h"
#include "worker/core/peer_watch.h"
#include "worker/departure.h"
#include "worker/exchange/data_plane.h"
#include "worker/job/accounts.h"
#include "worker/job/blob_cache.h"
#include "worker/job/node_job.h"
#include "worker/node_facts.h"
#include "worker/node_spec.h"
#include "worker/rpc/content_stub.h"
#include "worker/rpc/coordinator_stub.h"
#include "worker/settings.h"
#include "worker/state_directory.h"
#include "worker/work_threads.h"
#include "worker/worker_metrics.h"

namespace bspnow::worker {
namespace {

constexpr int kThreadsOfEach = 4;
constexpr std::uint64_t kLoadPeriodMs = 5000;
constexpr std::uint64_t kLookPeriodMs = 1000;
constexpr std::uint64_t kLastWordsMs = 1000;

class Daemon {
 public:
  Daemon(WorkerSettings settings, Accounts accounts)
      : settings_(std::move(settings)), accounts_(std::move(accounts)) {}

  /// Until a signal ends it.
  absl::Status Run();

 private:
  absl::Status StartParts();
  absl::Status OpenImages();
  absl::Status Locate(const std::string& peer, proto::RegisterRequest& request) const;
  absl::StatusOr<proto::RegisterRequest> Registration() const;
  CoordinatorAddress Coordinator() const {
    return {settings_.coordinator, settings_.login, *credentials_};
  }
  NodeParts Parts();
  CoordinatorEvents EventsOfCoordinator();
  void WatchSignals();
  void OnRegistered(const proto::RegisterReply& reply);
  void OnOrder(const proto::Order& order);
  void OnPeersChanged(const proto::PeersChanged& change);
  void Probe(const PeerAddress& peer);
  void LookAround();
  void OnBroken(JobId job, Epoch epoch, ExchangeFault fault, const std::string& why);
  void ReportLoad();
  void WriteAddress() const;

  const WorkerSettings settings_;
  Accounts accounts_;
  const CgroupTrees cgroups_ = PrepareCgroups();  // Before there are threads.
  const RaisedLimits limits_;
  const std::uint64_t incarnation_ = RandomIncarnation();
  std::optional<RpcCredentials> credentials_;
  std::optional<StateDirectory> state_;
  UniqueFd signals_;
  EventLoop loop_;
  std::unique_ptr<DataPlane> data_plane_;
  std::unique_ptr<BlobCache> cache_;
  std::unique_ptr<ImageStore> images_;
  std::unique_ptr<ImageTransfer> transfer_;
  std::unique_ptr<ImagesServer> images_server_;
  std::unique_ptr<CoordinatorStub> coordinator_;
  std::unique_ptr<ContentStub> contents_;
  std::unique_ptr<NodeThreads> threads_;
  std::unique_ptr<StoredCheckpoints> checkpoints_;
  std::unique_ptr<NodeHosting> hosting_;
  std::unique_ptr<HostedJobs> jobs_;
  std::unique_ptr<Departure> departure_;
  PeerWatch peers_{[this](const PeerAddress& peer) { Probe(peer); },
                   [this](proto::WorkerEvent event) { coordinator_->Report(std::move(event)); }};
  std::unique_ptr<MetricsServer> metrics_;
  bool registered_ = false;
  double reported_load_ = 0;
};

// ---- The parts ----------------------------------------------------------------------------------

absl::Status Daemon::StartParts() {
  absl::StatusOr<std::unique_ptr<DataPlane>> data_plane = DataPlane::Create(
      loop_,
      {.listen = settings_.listen,
       .congestion = settings_.congestion,
       .incarnation = incarnation_,
       .unreachable_ms = settings_.unreachable_ms,
       .integrity = settings_.integrity == "tcp" ? Integrity::kTcp : Integrity::kChecksums},
      {.broken = [this](JobId job, Epoch epoch, ExchangeFault fault,
                        const std::string& why) { OnBroken(job, epoch, fault, why); },
       .lease_renewed = [this](std::uint64_t sent_ns) { jobs_->OnLeaseRenewed(sent_ns); },
       .peer_failed =
           [this](WorkerId peer, const std::string& why) {
             peers_.OnExchangeFailed(peer, why, NowNs());
           }});
  if (!data_plane.ok()) return data_plane.status();
  data_plane_ = std::move(*data_plane);
  contents_ = std::make_unique<ContentStub>(Coordinator());
  absl::StatusOr<std::unique_ptr<BlobCache>> cache =
      BlobCache::Open(state_->cache(), settings_.cache_bytes,
                      std::bind_front(&ContentStub::ReadBlob, contents_.get()));
  if (!cache.ok()) return cache.status();
  cache_ = std::move(*cache);
  if (absl::Status s = OpenImages(); !s.ok()) return s;
  threads_ = std::make_unique<NodeThreads>(kThreadsOfEach);
  checkpoints_ = std::make_unique<StoredCheckpoints>(loop_, *threads_, *images_, *transfer_);
  hosting_ = std::make_unique<NodeHosting>(Parts());
  jobs_ = std::make_unique<HostedJobs>(
      *hosting_, *checkpoints_, settings_.orphan_timeout_ms * kNsPerMs,
      [this](proto::WorkerEvent event) { coordinator_->Report(std::move(event)); });
  departure_ = std::make_unique<Departure>(
      loop_, *jobs_, settings_.name, Departure::Patience{.drain_ms = settings_.drain_timeout_ms},
      [this](proto::WorkerEvent event) { coordinator_->Report(std::move(event)); });
  if (!settings_.metrics.empty()) {
    auto metrics = ServeMetrics(loop_, settings_, [this] {
      return WorkerFigures{.exchange = data_plane_->statistics(),
                           .jobs = jobs_->jobs(),
                           .processes = jobs_->processes(),
                           .slots = settings_.slots,
                           .cache_bytes = cache_->bytes(),
                           .images_refused = images_server_->refused(),
                           .lease_valid = jobs_->HearsCoordinator(NowNs())};
    });
    if (!metrics.ok()) return metrics.status();
    metrics_ = *std::move(metrics);
  }
  absl::StatusOr<proto::RegisterRequest> registration = Registration();
  if (!registration.ok()) return registration.status();
  coordinator_ = std::make_unique<CoordinatorStub>(loop_, Coordinator(), std::move(*registration),
                                                   images_->cluster_note(), EventsOfCoordinator());
  return absl::OkStatus();
}

absl::Status Daemon::OpenImages() {
  std::string root = state_->checkpoints();
  if (!settings_.checkpoint_dir.empty()) root = settings_.checkpoint_dir;
  const bool shared = !settings_.checkpoint_share.empty();
  if (shared) root = settings_.checkpoint_share;
  absl::StatusOr<std::unique_ptr<ImageStore>> images = ImageStore::Open(
      {.root = root,
       .quota_bytes = settings_.checkpoint_quota,
       .sharing = shared ? ImageStore::Sharing::kShared : ImageStore::Sharing::kOwn});
  if (!images.ok()) return images.status();
  images_ = std::move(*images);
  transfer_ = std::make_unique<ImageTransfer>(*images_, *credentials_);
  absl::StatusOr<HostPort> listen = ParseHostPort(settings_.listen);
  if (!listen.ok()) return listen.status();
  absl::StatusOr<std::unique_ptr<ImagesServer>> server = ImagesServer::Start(
      loop_, *images_, {.host = listen->host, .port = settings_.images_port}, *credentials_,
      [this](JobId job, std::uint64_t number) {
        loop_.Post([this, job, number] { jobs_->OnImagesReceived(job, number); });
      });
  if (!server.ok()) return server.status();
  images_server_ = std::move(*server);
  return absl::OkStatus();
}

NodeParts Daemon::Parts() {
  return NodeParts{.loop = loop_,
                   .data_plane = *data_plane_,
                   .cache = *cache_,
                   .threads = *threads_,
                   .images = *images_,
                   .transfer = *transfer_,
                   .limits = limits_,
                   .jobs_directory = state_->jobs(),
                   .host_program = settings_.host_program,
                   .restore_program = settings_.restore_program,
                   .accounts = accounts_,
                   .cgroups = cgroups_,
                   .memory_kills = MemoryKillFilesOfWorker(),
                   .processors = UsableProcessors(),
                   .memory_bytes = MemoryBytes(),
                   .files_bytes_max = settings_.files_bytes,
                   .store_profile = std::bind_front(&ContentStub::StoreProfile, contents_.get()),
                   .store_files = std::bind_front(&ContentStub::StoreFiles, contents_.get())};
}

absl::Status Daemon::Locate(const std::string& peer, proto::RegisterRequest& request) const {
  return SetAddresses(settings_, data_plane_->data_address(), images_server_->address().port, peer,
                      request);
}

absl::StatusOr<proto::RegisterRequest> Daemon::Registration() const {
  proto::RegisterRequest request;
  if (absl::Status s = Locate(settings_.coordinator, request); !s.ok()) return s;
  request.set_images_share(settings_.checkpoint_share);
  request.set_incarnation(incarnation_);
  *request.mutable_node() = NodeSpecOf(settings_, state_->flops(), accounts_.text());
  request.mutable_node()->set_limits(cgroups_.Limits());
  return request;
}

// ---- What happens -------------------------------------------------------------------------------

CoordinatorEvents Daemon::EventsOfCoordinator() {
  return {
      .attaching = std::bind_front(&Daemon::Locate, this),
      .registering = [this](proto::RegisterRequest& request) { return jobs_->Describe(request); },
      .registered = [this](const proto::RegisterReply& reply) { OnRegistered(reply); },
      .order = [this](const proto::Order& order) { OnOrder(order); },
      .output_kept =
          [this](JobId job, Epoch epoch, std::uint64_t credit_bytes) {
            jobs_->OnOutputKept(job, epoch, credit_bytes);
          }};
}

void Daemon::OnRegistered(const proto::RegisterReply& reply) {
  spdlog::info("event=registered name={} worker={} coordinator={} term={} data={} data_tls={}",
               settings_.name, reply.worker(), settings_.coordinator, reply.term(),
               data_plane_->data_address(), reply.data_tls());
  StreamKey key = StreamKey::FromBytes(reply.stream_key()).value_or(StreamKey());
  if (reply.data_tls()) key = key.Encrypting();
  images_->token().Set(key);
  jobs_->OnRegistered(reply);
  // A coordinator that listens on all addresses says so.
  const auto barrier = WithHostOf(reply.barrier_address(), settings_.coordinator);
  data_plane_->JoinCoordinator(
      {.self = WorkerId{reply.worker()},
       .barrier_address = barrier.value_or(reply.barrier_address()),
       .heartbeat_ms = jobs_->heartbeat_ms(),
       .lease_ms = reply.lease_ms(),
       .term = reply.term(),
       .stream_key = key,
       .barrier_key = StreamKey::FromBytes(reply.barrier_key()).value_or(StreamKey())});
  peers_.OnRegistered(WorkerId{reply.worker()});
  reported_load_ = 0;
  departure_->OnRegistered();
  if (std::exchange(registered_, true)) return;
  WriteAddress();
  ReportLoad();
  LookAround();
}

void Daemon::OnOrder(const proto::Order& order) {
  if (order.has_peers_changed()) return OnPeersChanged(order.peers_changed());
  if (order.has_leave()) return departure_->OnMayLeave();
  jobs_->OnOrder(order);
}

void Daemon::OnPeersChanged(const proto::PeersChanged& change) {
  for (const std::uint32_t worker : change.left())
    data_plane_->SetPeerAddress(WorkerId{worker}, "");
  for (const proto::Peer& peer : change.came())
    data_plane_->SetPeerAddress(WorkerId{peer.worker()}, peer.data_address());
  peers_.OnPeersChanged(change, NowNs());
}

void Daemon::Probe(const PeerAddress& peer) {
  data_plane_->Probe(
      peer, [this, peer](const std::string& failure) { peers_.OnProbed(peer, failure, NowNs()); });
}

void Daemon::LookAround() {
  jobs_->EndOrphans(NowNs());
  peers_.Look(data_plane_->silent_peers(NowNs()), NowNs());
  loop_.AddTimer(kLookPeriodMs, [this] { LookAround(); });
}

// Whose environment it was is of interest.
void Daemon::OnBroken(JobId job, Epoch epoch, ExchangeFault fault, const std::string& why) {
  const bool here = fault == ExchangeFault::kEnvironment;
  jobs_->OnBroken(job, epoch, fault,
                  here ? absl::StrCat("worker ", settings_.name, ": ", why) : why);
}

void Daemon::WriteAddress() const {
  std::string lines = absl::StrCat("data=", data_plane_->data_address(), "\n",
                                   "images=", images_server_->address().ToString(), "\n");
  if (metrics_) absl::StrAppend(&lines, "metrics=", metrics_->address().ToString(), "\n");
  if (const absl::Status s = state_->WriteAddress(lines); !s.ok())
    spdlog::warn("event=address_not_written reason=\"{}\"", std::string(s.message()));
}

void Daemon::ReportLoad() {
  const double load = LoadAverage();
  if (IsNewsOfLoad(load, reported_load_)) {
    reported_load_ = load;
    proto::WorkerEvent event;
    event.mutable_load()->set_load(load);
    coordinator_->Report(std::move(event));
  }
  loop_.AddTimer(kLoadPeriodMs, [this] { ReportLoad(); });
}

// ---- The end ------------------------------------------------------------------------------------

void Daemon::WatchSignals() {
  signal(SIGCHLD, SIG_DFL);
  signals_ = TakeOverEndingSignals();
  loop_.OnReadable(signals_.get(), [this] {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof info) == sizeof info)
      departure_->OnSignal(static_cast<int>(info.ssi_signo));
  });
}

absl::Status Daemon::Run() {
  WatchSignals();
  auto credentials = RpcCredentials::Load(settings_.tls_dir, TlsUse::kWork);
  if (!credentials.ok()) return credentials.status();
  credentials_ = *std::move(credentials);
  absl::StatusOr<StateDirectory> state = StateDirectory::Open(settings_.state_dir);
  if (!state.ok()) return state.status();
  state_ = std::move(*state);
  loop_.EnablePolling();
  if (absl::Status s = StartParts(); !s.ok()) return s;
  // Even if there is no coordinator yet: a machine's boot and an installation wait for this.
  if (const absl::Status s = NotifySystemd("READY=1"); !s.ok())
    spdlog::warn("event=systemd_not_notified reason=\"{}\"", std::string(s.message()));
  loop_.Run();
  coordinator_->Drain(kLastWordsMs);
  coordinator_->Stop();
  contents_->Stop();
  transfer_->Stop();
  threads_.reset();  // They may be using the coordinator and the cache.
  metrics_.reset();
  jobs_.reset();
  images_server_->Shutdown();
  coordinator_.reset();
  state_->RemoveAddress();
  spdlog::info("event=ended");
  return absl::OkStatus();
}

/// Prints what is wrong with the command line; returns the exit status, 0 if nothing is.
int Complain(const char* option, const absl::Status& found) {
  if (found.ok()) return 0;
  std::cerr << "bsp-worker: " << option << std::string(found.message()) << "\n";
  return absl::IsUnavailable(found) ? kFailureStatus : kUsageStatus;  // A name may resolve later.
}

int Main(int argc, char** argv) {
  OccupyStandardDescriptors(ClosedOutput::kVanishes);
  int exit_status = 0;
  std::optional<WorkerSettings> settings = ReadSettings(argc, argv, exit_status);
  if (!settings) return exit_status;
  if (const std::string lack = LackOfDescriptors(kDescriptorsOfDaemon, DescriptorLimit::kRaised);
      !lack.empty())
    return Complain("", absl::UnavailableError(lack));
  absl::StatusOr<Accounts> accounts = Accounts::Of(settings->accounts, geteuid());
  if (const int status = Complain("", accounts.status()); status != 0) return status;
  for (const auto& [option, address] :
       {std::pair{"--listen ", &settings->listen}, std::pair{"--metrics ", &settings->metrics}})
    if (const int end = Complain(option, CheckExposure(*address, settings->exposure)); end != 0)
      return end;
  if (settings->slots == 0) settings->slots = UsableProcessors();
  SetUpLog("bsp-worker", "info", LogFormatOf(settings->log_format));
  LogGrpc();
  absl::Status status = absl::NotFoundError("bsp-host is missing; give --host-program");
  if (!settings->host_program.empty())
    status = Daemon(std::move(*settings), *std::move(accounts)).Run();
  if (status.ok()) return 0;
  spdlog::error("event=failed reason=\"{}\"", std::string(status.message()));
  return 1;
}

}  // namespace
}  // namespace bspnow::worker

int main(int argc, char** argv) { return bspnow::worker::Main(argc, argv); }
