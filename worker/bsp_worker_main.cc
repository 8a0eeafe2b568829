// bsp-worker: the daemon of one node. One loop thread owns the exchange and the jobs; gRPC, disk
// and metrics have threads of their own and post to it.
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/check.h"
#include "base/clock.h"
#include "base/version.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/systemd_notify.h"
#include "worker/advertised_address.h"
#include "worker/blob_cache.h"
#include "worker/coordinator_stub.h"
#include "worker/data_plane.h"
#include "worker/hosted_jobs.h"
#include "worker/limits.h"
#include "worker/node_facts.h"
#include "worker/settings.h"
#include "worker/work_threads.h"
#include "worker/worker_metrics.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr int kWorkThreads = 4;
constexpr std::uint64_t kLoadPeriodMs = 5000;
constexpr double kLoadStep = 0.25;  // A smaller change is no news.
constexpr std::uint64_t kEndTimeoutMs = 5000;
constexpr std::uint64_t kLastWordsMs = 1000;
constexpr std::uint64_t kNsPerMs = 1'000'000;

std::uint64_t RandomIncarnation() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

// Installed as libexec/bspnow/bsp-host, beside bin; in a build tree beside this program.
std::string FindHostProgram() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path : {here / "../libexec/bspnow/bsp-host", here / "bsp-host"}) {
    if (access(path.c_str(), X_OK) == 0) return path.string();
  }
  return {};
}

absl::Status CheckExposure(const WorkerSettings& settings, const std::string& address) {
  const absl::StatusOr<HostPort> host_port = ParseHostPort(address);
  if (!host_port.ok()) return host_port.status();
  const absl::StatusOr<SocketAddress> resolved = Resolve(*host_port);
  if (!resolved.ok()) return resolved.status();
  if (settings.exposure == Exposure::kAnywhere || resolved->IsLoopback()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(address, " is not loopback, and nothing here asks for credentials; whoever",
                   " reaches it can run programs. Give --insecure if the network is trusted"));
}

class Daemon {
 public:
  explicit Daemon(WorkerSettings settings) : settings_(std::move(settings)) {}

  /// Until SIGTERM or SIGINT.
  absl::Status Run();

 private:
  absl::Status OpenStateDirectory();
  absl::Status StartParts();
  absl::StatusOr<proto::RegisterRequest> Registration() const;
  absl::StatusOr<std::string> AdvertisedAddress() const;
  HostingContext Hosting();
  CoordinatorEvents EventsOfCoordinator();
  void WatchSignals();
  void OnRegistered(const proto::RegisterReply& reply);
  void OnTermination();
  void ReportLoad();
  void WriteAddress() const;
  bool LeaseValid() const;

  const WorkerSettings settings_;
  const RaisedLimits limits_;
  const std::uint64_t incarnation_ = RandomIncarnation();
  UniqueFd state_lock_;
  UniqueFd signals_;
  EventLoop loop_;
  std::unique_ptr<DataPlane> data_plane_;
  std::unique_ptr<BlobCache> cache_;
  std::unique_ptr<CoordinatorStub> coordinator_;
  std::unique_ptr<WorkThreads> threads_;
  std::unique_ptr<HostedJobs> jobs_;
  std::unique_ptr<WorkerMetrics> metrics_;
  bool registered_ = false;
  bool ending_ = false;
  double reported_load_ = 0;
  std::uint64_t lease_ns_ = 0;
  std::uint64_t lease_from_ns_ = 0;  ///< 0: never had one.
};

// ---- The parts ----------------------------------------------------------------------------------

absl::Status Daemon::OpenStateDirectory() {
  std::error_code error;
  for (const char* part : {"", "/jobs", "/cache"}) {
    fs::create_directories(settings_.state_dir + part, error);
    if (error) {
      return absl::InternalError(
          absl::StrCat("making ", settings_.state_dir, part, ": ", error.message()));
    }
  }
  const std::string lock = settings_.state_dir + "/lock";
  state_lock_ = UniqueFd(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!state_lock_.valid() || flock(state_lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("another worker uses ", settings_.state_dir, "; give each its own"));
  }
  fs::remove(settings_.state_dir + "/address", error);
  return absl::OkStatus();
}

absl::Status Daemon::StartParts() {
  absl::StatusOr<std::unique_ptr<DataPlane>> data_plane = DataPlane::Create(
      loop_,
      {.listen = settings_.listen, .congestion = settings_.congestion, .incarnation = incarnation_},
      {.job_broken = [this](JobId job, Epoch epoch,
                            const std::string& why) { jobs_->OnBroken(job, epoch, why); },
       .lease_renewed = [this](std::uint64_t sent_ns) { lease_from_ns_ = sent_ns; },
       .note = [](const std::string& line) { spdlog::info("{}", line); }});
  if (!data_plane.ok()) return data_plane.status();
  data_plane_ = std::move(*data_plane);
  absl::StatusOr<std::unique_ptr<BlobCache>> cache = BlobCache::Open(
      settings_.state_dir + "/cache", settings_.cache_bytes,
      [this](const std::string& hash, int file) { return coordinator_->ReadBlob(hash, file); });
  if (!cache.ok()) return cache.status();
  cache_ = std::move(*cache);
  threads_ = std::make_unique<WorkThreads>(kWorkThreads);
  jobs_ = std::make_unique<HostedJobs>(Hosting());
  if (!settings_.metrics.empty()) {
    absl::StatusOr<std::unique_ptr<WorkerMetrics>> metrics =
        WorkerMetrics::Serve(loop_, settings_.metrics, [this] {
          return WorkerFigures{.exchange = data_plane_->statistics(),
                               .jobs = jobs_->jobs(),
                               .processes = jobs_->processes(),
                               .slots = settings_.slots,
                               .cache_bytes = cache_->bytes(),
                               .lease_valid = LeaseValid()};
        });
    if (!metrics.ok()) return metrics.status();
    metrics_ = std::move(*metrics);
  }
  absl::StatusOr<proto::RegisterRequest> registration = Registration();
  if (!registration.ok()) return registration.status();
  coordinator_ = std::make_unique<CoordinatorStub>(loop_, settings_.coordinator,
                                                   std::move(*registration), EventsOfCoordinator());
  return absl::OkStatus();
}

HostingContext Daemon::Hosting() {
  return HostingContext{
      .loop = loop_,
      .data_plane = *data_plane_,
      .cache = *cache_,
      .threads = *threads_,
      .limits = limits_,
      .jobs_directory = settings_.state_dir + "/jobs",
      .host_program = settings_.host_program,
      .processors = UsableProcessors(),
      .memory_bytes = MemoryBytes(),
      .files_bytes_max = settings_.files_bytes,
      .address_space_bytes = {},
      .report = [this](proto::WorkerEvent event) { coordinator_->Report(std::move(event)); },
      .store_files =
          [this](JobId job, const std::string& directory, const std::vector<LeftFile>& files) {
            return coordinator_->StoreFiles(job, directory, files);
          }};
}

absl::StatusOr<std::string> Daemon::AdvertisedAddress() const {
  if (!settings_.advertise.empty()) return settings_.advertise;
  const absl::StatusOr<std::string> own = OwnAddressTowards(settings_.coordinator);
  if (!own.ok()) return own.status();
  return WithHostOf(data_plane_->data_address(), *own);
}

absl::StatusOr<proto::RegisterRequest> Daemon::Registration() const {
  proto::RegisterRequest request;
  const absl::StatusOr<std::string> address = AdvertisedAddress();
  if (!address.ok()) return address.status();
  request.set_data_address(*address);
  request.set_incarnation(incarnation_);
  proto::NodeSpec& node = *request.mutable_node();
  node.set_name(settings_.name);
  node.set_slots(settings_.slots);
  node.set_memory_bytes(MemoryBytes());
  for (std::string& feature : CpuFeatures()) node.add_cpu_features(std::move(feature));
  node.set_flops(FlopsOf(settings_.state_dir + "/flops"));
  for (const std::string& label : settings_.labels) {
    const std::size_t equals = label.find('=');
    const std::string value = equals == std::string::npos ? "" : label.substr(equals + 1);
    (*node.mutable_labels())[label.substr(0, equals)] = value;
  }
  node.set_version(kVersion);
  return request;
}

// ---- What happens -------------------------------------------------------------------------------

CoordinatorEvents Daemon::EventsOfCoordinator() {
  return {.registered = [this](const proto::RegisterReply& reply) { OnRegistered(reply); },
          .order = [this](const proto::Order& order) { jobs_->OnOrder(order); },
          .output_kept =
              [this](JobId job, Epoch epoch, const std::vector<std::size_t>& pieces) {
                jobs_->OnOutputKept(job, epoch, pieces);
              }};
}

void Daemon::OnRegistered(const proto::RegisterReply& reply) {
  spdlog::info("event=registered name={} worker={} coordinator={} term={} data={}", settings_.name,
               reply.worker(), settings_.coordinator, reply.term(), data_plane_->data_address());
  jobs_->AbandonAll();
  jobs_->SetSelf(WorkerId{reply.worker()});
  lease_ns_ = reply.lease_ms() * kNsPerMs;
  // A coordinator that listens on all addresses says so.
  const absl::StatusOr<std::string> barrier =
      WithHostOf(reply.barrier_address(), settings_.coordinator);
  data_plane_->JoinCoordinator({.self = WorkerId{reply.worker()},
                                .barrier_address = barrier.value_or(reply.barrier_address()),
                                .heartbeat_ms = reply.heartbeat_ms()});
  if (std::exchange(registered_, true)) return;
  WriteAddress();
  if (const absl::Status s = NotifySystemd("READY=1"); !s.ok()) {
    spdlog::warn("event=systemd_not_notified reason=\"{}\"", std::string(s.message()));
  }
  ReportLoad();
}

void Daemon::WriteAddress() const {
  const std::string path = settings_.state_dir + "/address";
  {
    std::ofstream file(path + ".new");
    file << "data=" << data_plane_->data_address() << "\n";
    if (metrics_) file << "metrics=" << metrics_->address() << "\n";
  }
  std::error_code error;
  fs::rename(path + ".new", path, error);
}

void Daemon::ReportLoad() {
  const double load = LoadAverage();
  if (std::abs(load - reported_load_) >= kLoadStep) {
    reported_load_ = load;
    proto::WorkerEvent event;
    event.mutable_load()->set_load(load);
    coordinator_->Report(std::move(event));
  }
  loop_.AddTimer(kLoadPeriodMs, [this] { ReportLoad(); });
}

bool Daemon::LeaseValid() const {
  return lease_from_ns_ != 0 && NowNs() < lease_from_ns_ + lease_ns_;
}

// ---- The end ------------------------------------------------------------------------------------

void Daemon::WatchSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);  // Before there are threads, so for all of them.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  signals_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  BSP_CHECK(signals_.valid());
  loop_.OnReadable(signals_.get(), [this] {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof info) == sizeof info) OnTermination();
  });
}

void Daemon::OnTermination() {
  if (std::exchange(ending_, true)) return loop_.Stop();
  spdlog::info("event=ending jobs={}", jobs_->jobs());
  static_cast<void>(NotifySystemd("STOPPING=1"));
  loop_.AddTimer(kEndTimeoutMs, [this] { loop_.Stop(); });
  jobs_->EndAll(absl::StrCat("worker ", settings_.name, " was shut down"),
                [this] { loop_.Stop(); });
}

absl::Status Daemon::Run() {
  WatchSignals();
  for (const std::string& address : {settings_.listen, settings_.metrics}) {
    if (address.empty()) continue;
    if (absl::Status s = CheckExposure(settings_, address); !s.ok()) return s;
  }
  if (absl::Status s = OpenStateDirectory(); !s.ok()) return s;
  loop_.EnablePolling();
  if (absl::Status s = StartParts(); !s.ok()) return s;
  loop_.Run();
  coordinator_->Drain(kLastWordsMs);
  coordinator_->Stop();
  threads_.reset();  // They may be using the coordinator and the cache.
  metrics_.reset();
  jobs_.reset();
  coordinator_.reset();
  std::error_code error;
  fs::remove(settings_.state_dir + "/address", error);
  spdlog::info("event=ended");
  return absl::OkStatus();
}

// Descriptors 0 to 2 may be closed; what is opened next must not take their place.
void OccupyStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

int Main(int argc, char** argv) {
  OccupyStandardDescriptors();
  int exit_status = 0;
  std::optional<WorkerSettings> settings = ReadSettings(argc, argv, exit_status);
  if (!settings) return exit_status;
  if (settings->slots == 0) settings->slots = UsableProcessors();
  if (settings->host_program.empty()) settings->host_program = FindHostProgram();
  spdlog::set_default_logger(spdlog::stderr_logger_mt("bsp-worker"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z level=%l %v");
  absl::Status status = absl::NotFoundError("bsp-host is missing; give --host-program");
  if (!settings->host_program.empty()) {
    Daemon daemon(std::move(*settings));
    status = daemon.Run();
  }
  if (status.ok()) return 0;
  spdlog::error("event=failed reason=\"{}\"", std::string(status.message()));
  return 1;
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) { return bspnow::Main(argc, argv); }
