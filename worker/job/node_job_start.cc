// From the order to start a job to its running processes.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/environment.h"
#include "base/units.h"
#include "net/stream_key.h"
#include "worker/checkpoint/cpu_features.h"
#include "worker/job/node_job.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kHostSilentNs = 10 * kNsPerS;

std::vector<Pid> PidsOf(const proto::Host& host) {
  std::vector<Pid> pids;
  for (const std::uint32_t pid : host.pids()) pids.push_back(Pid{pid});
  return pids;
}

/// What this daemon was told, and programs are not.
bool IsOurs(const std::string& variable) {
  return absl::StartsWith(variable, "NOTIFY_SOCKET=") || absl::StartsWith(variable, "BSP_TOKEN") ||
         absl::StartsWith(variable, "BSP_LOGIN_SOCKET=");
}

/// What another user's programs may know of this daemon's environment.
bool IsCommon(const std::string& variable) {
  return absl::StartsWith(variable, "PATH=") || absl::StartsWith(variable, "LANG=") ||
         absl::StartsWith(variable, "LC_") || absl::StartsWith(variable, "TZ=");
}

std::vector<std::string> GivenEnvironment(const proto::JobSpec& spec,
                                          const std::optional<Account>& account) {
  std::vector<std::string> given(spec.environment().begin(), spec.environment().end());
  if (spec.replace_environment()) return given;
  const std::size_t count = given.size();
  std::vector<std::string> environment = EnvironmentWith(given);
  const auto inherited = environment.begin() + static_cast<std::ptrdiff_t>(count);
  environment.erase(std::remove_if(inherited, environment.end(),
                                   [&](const std::string& variable) {
                                     return IsOurs(variable) || (account && !IsCommon(variable));
                                   }),
                    environment.end());
  if (!account) return environment;
  for (const auto& [name, value] :
       {std::pair{"HOME=", account->home}, {"USER=", account->name}, {"LOGNAME=", account->name}}) {
    const bool known = std::any_of(given.begin(), given.end(), [name = name](const auto& variable) {
      return absl::StartsWith(variable, name);
    });
    if (!known) environment.push_back(absl::StrCat(name, value));
  }
  return environment;
}

// After what the user gave glibc: of two values for one tunable it takes the last.
void Tune(const std::string& tunables, std::vector<std::string>& environment) {
  static constexpr char kName[] = "GLIBC_TUNABLES=";
  const auto given =
      std::find_if(environment.begin(), environment.end(),
                   [](const std::string& variable) { return absl::StartsWith(variable, kName); });
  if (given == environment.end()) {
    environment.push_back(absl::StrCat(kName, tunables));
  } else {
    absl::StrAppend(&*given, ":", tunables);
  }
}

std::vector<std::string> EnvironmentOf(const proto::StartJob& start,
                                       const std::optional<Account>& account) {
  std::vector<std::string> environment = GivenEnvironment(start.spec(), account);
  // Symbols that are resolved later change pages that belong to the program's file.
  environment.push_back("LD_BIND_NOW=1");
  const std::string tunables =
      TunablesFor({start.cpu_features().begin(), start.cpu_features().end()}, PresentCpuFeatures());
  if (!tunables.empty()) Tune(tunables, environment);
  return environment;
}

}  // namespace

void NodeJob::Prepare() {
  const std::vector<std::uint32_t> started = job_.StartedPids();
  if (job_.start().reads_input() && !started.empty() && started.front() == 0) {
    input_ = std::make_unique<InputPipe>(parts_.loop, [this](std::uint64_t bytes) {
      proto::WorkerEvent event;
      event.mutable_input_taken()->set_bytes(bytes);
      job_.OnHostEvent(std::move(event));
    });
  }
  awaits_older_epoch_ = hosting_.HasOlderEpoch(*this);
  if (!awaits_older_epoch_) return BeginPreparing();
  spdlog::info("event=job_waits job={} epoch={} reason=\"an older epoch is being cleared\"",
               Value(id_), Value(epoch_));
}

void NodeJob::PrepareAfterOlder() {
  if (std::exchange(awaits_older_epoch_, false)) BeginPreparing();
}

// Those whose turn has not come do not wait for the transfers of others.
void NodeJob::StopPreparing() {
  preparing_.Stop();
  fetching_images_.Stop();
  if (prepared_ && !prepared_->test_and_set()) PostNotPrepared(absl::CancelledError("it ends"));
}

void NodeJob::PostNotPrepared(absl::Status why) {
  parts_.loop.Post([this, why = std::move(why)] { OnPrepared({.directory = why}); });
}

void NodeJob::BeginPreparing() {
  if (preparing_.stopping()) return PostNotPrepared(absl::CancelledError("it ends"));
  if (!parts_.accounts.asks_others()) {
    absl::StatusOr<std::optional<Account>> account = TakeAccount();
    if (!account.ok()) return PostNotPrepared(account.status());
    account_ = *std::move(account);
  }
  prepared_ = std::make_shared<std::atomic_flag>();
  parts_.threads.transfers.Run([this, answered = prepared_] {
    if (answered->test_and_set()) return;
    const auto prepared = std::make_shared<Prepared>(PrepareOnThread());
    parts_.loop.Post([this, prepared] { OnPrepared(std::move(*prepared)); });
  });
}

absl::StatusOr<std::optional<Account>> NodeJob::TakeAccount() const {
  return parts_.accounts.Take(id_, job_.start().spec().user());
}

NodeJob::Prepared NodeJob::PrepareOnThread() {
  const proto::StartJob& start = job_.start();
  absl::StatusOr<std::optional<Account>> account = account_;
  if (parts_.accounts.asks_others()) account = TakeAccount();
  if (!account.ok()) return {.directory = account.status()};
  const std::string path = absl::StrCat(parts_.jobs_directory, "/", Value(id_));
  parts_.images.MakeRoot();
  Prepared prepared{.directory = JobDirectory::Create(path, start.spec(), parts_.cache, preparing_),
                    .account = *std::move(account)};
  const std::vector<std::uint32_t> started = job_.StartedPids();
  if (!started.empty() && job_.resumes() && prepared.directory.ok()) {
    prepared.restore = PrepareRestore(
        {.job = id_,
         .resume = start.resume(),
         .pids = started,
         .directory = prepared.directory->path(),
         .cpu_features = {start.cpu_features().begin(), start.cpu_features().end()},
         .make_room = [this](std::uint64_t bytes) { return parts_.cache.RemoveIdle(bytes); }},
        parts_.transfer, parts_.images, {.files = preparing_, .images = fetching_images_});
  }
  if (prepared.account && prepared.directory.ok()) {
    const absl::Status given = GiveFiles(*prepared.directory, *prepared.account);
    if (!given.ok()) prepared.directory = given;
  }
  if (prepared.directory.ok()) prepared.input = OpenInput(*prepared.directory, prepared.account);
  return prepared;
}

// On one of the threads: a file server may be away. A process that is put back has its file, or has
// none.
absl::StatusOr<UniqueFd> NodeJob::OpenInput(const JobDirectory& directory,
                                            const std::optional<Account>& account) const {
  const std::string& name = job_.start().spec().input();
  const std::vector<std::uint32_t> started = job_.StartedPids();
  if (name.empty() || started.empty() || started.front() != 0 || job_.resumes_images())
    return UniqueFd();
  const std::string path = absl::StrCat(directory.path(), "/", name);
  const FilesAs as(account ? &*account : nullptr);
  // A pipe that another job of the account has put there would keep the thread waiting.
  UniqueFd input(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!input.valid() || fstat(input.get(), &status) != 0 || fcntl(input.get(), F_SETFL, 0) != 0)
    return absl::UnavailableError(absl::StrCat("opening ", name, ": ", strerror(errno)));
  if (!S_ISREG(status.st_mode))
    return absl::UnavailableError(
        absl::StrCat("standard input, ", name, ", is no regular file any more"));
  return input;
}

// Last: until then nobody but the worker comes into these directories.
absl::Status NodeJob::GiveFiles(const JobDirectory& directory, const Account& account) const {
  if (absl::Status s = GiveTree(directory.path(), account); !s.ok()) return s;
  if (absl::Status s = parts_.images.MakeDirectory(id_); !s.ok()) return s;
  const std::string images = parts_.images.DirectoryOf(id_);
  const std::optional<Account> owner = OwnerOf(images);
  if (owner && owner->user != account.user) {
    return absl::PermissionDeniedError(
        absl::StrCat(images, " is the user ", owner->user, "'s, and not that of ", account.name));
  }
  // In a share another node has given it already.
  if (!owner) {
    if (absl::Status s = GiveTree(images, account); !s.ok()) return s;
  }
  const FilesAs as(&account);
  // Not access(2): that asks for root, who we still are.
  struct stat status {};
  if (stat(directory.program_path().c_str(), &status) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("the account ", account.name, " cannot come to ", directory.path(),
                   " (chmod o+x the directories above it, or give --state-dir another place)"));
}

void NodeJob::OnPrepared(Prepared prepared) {
  const absl::Status status = prepared.directory.status();
  if (prepared.account) account_ = std::move(prepared.account);
  if (status.ok()) directory_.emplace(std::move(*prepared.directory));
  input_file_ = std::move(prepared.input);
  resumed_ = std::move(prepared.restore.processes);
  job_.OnPrepared(status, prepared.restore.failed, std::move(prepared.restore.not_brought));
}

absl::Status NodeJob::Start(std::uint64_t lease_until_ns) {
  if (absl::Status s = OpenExchange(lease_until_ns); !s.ok()) return s;
  for (const std::uint32_t pid : job_.StartedPids()) pids_.push_back(Pid{pid});
  if (pids_.empty()) return absl::OkStatus();
  if (NowNs() < hosting_.host_silent_until_ns_)
    return absl::InternalError(
        "bsp-host does not begin on this node now; is its disk's server away?");
  const absl::StatusOr<UniqueFd> input = TakeInputEnd();
  if (!input.ok()) return input.status();
  cgroup_ = hosting_.MakeCgroup(id_, epoch_, Limits());
  if (cgroup_) segment_->SetMemoryGroup(cgroup_->memory_path(), cgroup_->memory_bytes());
  kills_here_ = MemoryKills(parts_.memory_kills);
  absl::StatusOr<StartedHost> started =
      StartHost(HostProgram{.path = parts_.host_program,
                            .name = absl::StrCat(Value(id_), "-", Value(epoch_)),
                            .limits = parts_.limits,
                            .cgroups = cgroup_ ? cgroup_->entries() : std::vector<int>()},
                PlanForHost(),
                PlanDescriptors{.segment = segment_->fd(),
                                .doorbell = doorbell_.processes.get(),
                                .mailbox = mailbox_.processes.get(),
                                .input = input->get()});
  doorbell_.processes.Reset();
  mailbox_.processes.Reset();
  if (absl::IsUnavailable(started.status())) {
    hosting_.host_silent_until_ns_ = NowNs() + kHostSilentNs;
    return absl::InternalError(started.status().message());
  }
  if (!started.ok()) return started.status();
  host_ = std::make_unique<HostLink>(
      parts_.loop, std::move(*started),
      [this](proto::WorkerEvent event) { OnHostEvent(std::move(event)); },
      [this] { OnHostGone(); });
  watch_ = BarrierWatch(NowNs());
  groups_watch_ = GroupsWatch();
  deadlock_watch_ = DeadlockWatch();
  standstill_watch_ = StandstillWatch();
  WatchBarrier();
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> NodeJob::TakeInputEnd() {
  if (!input_) return std::move(input_file_);
  UniqueFd read_end = input_->TakeReadEnd();
  if (read_end.valid()) return read_end;
  // Without an end to read from bsp-host would give it an empty one.
  return absl::UnavailableError("there was no pipe to be had for standard input");
}

absl::StatusOr<NodeSegment> NodeJob::MakeSegment() const {
  const proto::JobSpec& spec = job_.start().spec();
  const std::uint64_t here = job_.StartedPids().size();
  const std::uint64_t allowed = spec.memory_bytes() == 0
                                    ? parts_.memory_bytes
                                    : std::min(parts_.memory_bytes, spec.memory_bytes() * here);
  return NodeSegment::Create(SegmentPlan{.job = id_,
                                         .epoch = epoch_,
                                         .nprocs = spec.nprocs(),
                                         .check_full = spec.check_full(),
                                         .memory_bytes = parts_.memory_bytes,
                                         .address_space_bytes = hosting_.AddressSpaceBytes(),
                                         .memory_max = allowed,
                                         .check_textual = spec.check_textual()});
}

absl::Status NodeJob::OpenDoorbell() {
  absl::StatusOr<DoorbellEnds> doorbell = MakeDoorbell();
  if (!doorbell.ok()) return doorbell.status();
  doorbell_ = *std::move(doorbell);
  absl::StatusOr<MailboxEnds> mailbox = MakeMailbox();
  if (!mailbox.ok()) return mailbox.status();
  mailbox_ = *std::move(mailbox);
  return absl::OkStatus();
}

absl::Status NodeJob::OpenExchange(std::uint64_t lease_until_ns) {
  const proto::StartJob& start = job_.start();
  absl::StatusOr<NodeSegment> segment = MakeSegment();
  if (!segment.ok()) return segment.status();
  segment_ = std::make_unique<NodeSegment>(std::move(*segment));
  segment_->SetLease(lease_until_ns);
  JobPlan exchange{.job = id_,
                   .epoch = epoch_,
                   .hosts = {},
                   .segment = segment_.get(),
                   .doorbell = -1,
                   .direct = start.direct(),
                   .key = StreamKey::FromBytes(start.key()).value_or(StreamKey())};
  if (job_.resumes()) {
    const proto::Resume& resume = start.resume();
    if (job_.resumes_images()) exchange.participants = resume.participants();
    segment_->Resume(resume.superstep() - 1, exchange.participants);
  }
  std::vector<std::vector<Pid>> pids;
  for (const proto::Host& host : start.hosts()) {
    pids.push_back(PidsOf(host));
    exchange.hosts.push_back(PlannedHost{.worker = WorkerId{host.worker()},
                                         .data_address = host.data_address(),
                                         .node = host.node(),
                                         .pids = pids.back()});
  }
  segment_->Place(job_.node(), pids);
  if (pids.size() > 1) {
    if (absl::Status made = OpenDoorbell(); !made.ok()) return made;
    exchange.doorbell = doorbell_.worker.get();
    exchange.mailbox = mailbox_.worker.get();
  }
  parts_.data_plane.AddJob(exchange);
  exchanging_ = true;
  return absl::OkStatus();
}

proto::HostPlan NodeJob::PlanForHost() {
  const proto::JobSpec& spec = job_.start().spec();
  proto::HostPlan plan;
  plan.set_program(job_.resumes_images() ? parts_.restore_program : directory_->program_path());
  plan.mutable_arguments()->CopyFrom(spec.arguments());
  if (plan.arguments().empty()) plan.add_arguments(spec.program().name());
  for (std::string& variable : EnvironmentOf(job_.start(), account_)) {
    plan.add_environment(std::move(variable));
  }
  plan.set_directory(spec.directory().empty() ? directory_->path() : spec.directory());
  plan.set_directory_optional(spec.directory_optional());
  plan.mutable_processes()->Assign(resumed_.begin(), resumed_.end());
  if (resumed_.empty()) {
    for (const std::uint32_t pid : job_.StartedPids()) plan.add_processes()->set_pid(pid);
  }
  plan.set_processors(parts_.processors);
  plan.set_memory_bytes(spec.memory_bytes());
  plan.set_core(spec.core());
  plan.set_segment_bytes(segment_->bytes());
  plan.set_interactive(spec.interactive());
  plan.set_job_directory(directory_->path());
  for (const files::GivenFile& file : directory_->given()) {
    proto::KnownFile& given = *plan.add_given();
    given.set_name(file.name);
    given.set_bytes(file.bytes);
    given.set_changed_ns(file.changed_ns);
    given.set_mode(file.mode);
  }
  plan.set_image_directory(parts_.images.DirectoryOf(id_));
  if (account_) {
    proto::HostAccount& account = *plan.mutable_account();
    account.set_name(account_->name);
    account.set_user(account_->user);
    account.set_group(account_->group);
    account.mutable_groups()->Assign(account_->groups.begin(), account_->groups.end());
    account.set_home(account_->home);
  }
  return plan;
}

}  // namespace bspnow::worker
