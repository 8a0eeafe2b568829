#include "tests/images/hosted_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/raised_limits.h"
#include "base/send_descriptors.h"
#include "base/unique_fd.h"
#include "runtime/image/image_format.h"
#include "worker/checkpoint/image_file.h"
#include "worker/exchange/node_segment.h"
#include "worker/host/spawn.h"
#include "worker/restore/restore_command.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr JobId kJob{17};
constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 30;
constexpr Pid kPid{0};

struct Ends {
  UniqueFd ours;
  UniqueFd theirs;
};

Ends MakePipe() {
  int ends[2];
  BSP_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  BSP_CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  return Ends{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Raised once: what programs get back is what was before.
const RaisedLimits& OwnLimits() {
  static const RaisedLimits limits;
  return limits;
}

/// One run, from spawn to the end of all output.
class HostedProgram {
 public:
  explicit HostedProgram(const ProgramLaunch& launch);
  ProgramOutcome Run();

 private:
  void Start();
  void OnLink();
  void OnHello(const LinkHello& hello);
  void OnSaving();
  void OnReport(const LinkImageReport& report);
  void Answer(const void* message, std::size_t bytes, int descriptor);
  void OrderNext();
  void Drain();
  bool saving() const { return launch_.saving != Saving::kNever; }

  const ProgramLaunch& launch_;
  std::unique_ptr<worker::NodeSegment> segment_;
  Ends output_ = MakePipe();
  Ends errors_ = MakePipe();
  Ends link_;
  UniqueFd images_;
  pid_t os_pid_ = 0;
  std::uint64_t checkpoint_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t chain_ = 0;
  ProgramOutcome outcome_{};
};

HostedProgram::HostedProgram(const ProgramLaunch& launch) : launch_(launch) {
  absl::StatusOr<worker::NodeSegment> segment =
      worker::NodeSegment::Create(SegmentPlan{.job = kJob,
                                              .epoch = Epoch{1},
                                              .nprocs = 1,
                                              .check_full = false,
                                              .memory_bytes = kMemoryBytes});
  BSP_CHECK(segment.ok());
  segment_ = std::make_unique<worker::NodeSegment>(*std::move(segment));
  if (launch.superstep != 0) segment_->Resume(launch.superstep - 1, 1);
  int ends[2];
  BSP_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  link_ = Ends{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (saving()) {
    fs::create_directories(launch.images);
    images_ = UniqueFd(open(launch.images.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    BSP_CHECK(images_.valid());
  }
}

void HostedProgram::Start() {
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  fchmod(output_.theirs.get(), kOutputPipeMode);  // As bsp-host.
  fchmod(errors_.theirs.get(), kErrorPipeMode);
  const std::vector<std::string> environment =
      EnvironmentWith({std::string(kLinkVariable) + "=3", "LD_BIND_NOW=1"});
  absl::StatusOr<pid_t> spawned = worker::Spawn(
      worker::SpawnRequest{.program = launch_.command[0],
                           .arguments = launch_.command,
                           .environment = environment,
                           .directory = launch_.directory,
                           .standard = {nothing.get(), output_.theirs.get(), errors_.theirs.get()},
                           .link = link_.theirs.get(),
                           .memory_bytes = Given().memory_bytes,
                           .limits = OwnLimits()});
  BSP_CHECK(spawned.ok());
  os_pid_ = *spawned;
  output_.theirs.Reset();
  errors_.theirs.Reset();
  link_.theirs.Reset();
}

void HostedProgram::Drain() {
  const std::pair<int, std::string*> streams[] = {{output_.ours.get(), &outcome_.output},
                                                  {errors_.ours.get(), &outcome_.errors}};
  for (const auto& [fd, text] : streams) {
    char piece[65536];
    for (ssize_t n; (n = read(fd, piece, sizeof piece)) > 0;) {
      text->append(piece, static_cast<std::size_t>(n));
    }
  }
}

void HostedProgram::Answer(const void* message, std::size_t bytes, int descriptor) {
  SendDescriptors(link_.ours.get(), {static_cast<const std::byte*>(message), bytes},
                  {&descriptor, descriptor >= 0 ? 1u : 0u}, IfFull::kWait);
}

void HostedProgram::OrderNext() {
  base_ = chain_ % launch_.chain_max == 0 ? 0 : checkpoint_;
  ++chain_;
  ++checkpoint_;
  segment_->OrderImage(
      {.checkpoint = checkpoint_, .base = base_, .after = worker::ImagePlan::After::kHold});
  segment_->RaiseWanted();
}

void HostedProgram::OnSaving() {
  Drain();
  const std::string files = launch_.images + "/files-" + std::to_string(checkpoint_);
  fs::copy(launch_.directory, files, fs::copy_options::recursive);
  outcome_.images.push_back(TakenImage{.checkpoint = checkpoint_,
                                       .base = base_,
                                       .written = false,
                                       .reason = "no report came",
                                       .superstep = 0,
                                       .file_bytes = 0,
                                       .pause_ns = 0,
                                       .write_ns = 0,
                                       .output_before = outcome_.output,
                                       .files = files});
  if (!launch_.shared.empty()) std::ofstream(launch_.shared, std::ios::app) << "other\n";
  const LinkImagePlace place{.magic = kLinkMagic, .version = kLinkVersion};
  Answer(&place, sizeof place, images_.get());
  if (launch_.saving != Saving::kTorn) return;
  // As soon as there is something of it; the writer dies with the process.
  const std::string unfinished =
      launch_.images + "/" + worker::ImageName(checkpoint_, kPid) + ".new";
  std::error_code error;
  const auto bytes = [&unfinished, &error] { return fs::file_size(unfinished, error); };
  while (!fs::exists(unfinished, error) || bytes() < (std::uintmax_t{1} << 20)) sched_yield();
  kill(os_pid_, SIGKILL);
}

// What the worker does when an image is written, but for the syncs.
void HostedProgram::OnReport(const LinkImageReport& report) {
  TakenImage& image = outcome_.images.back();
  image.written = report.written == 1;
  image.reason = report.reason;
  image.file_bytes = report.file_bytes;
  image.write_ns = report.write_ns;
  image.pause_ns = segment_->image_pause_ns(kPid);
  if (image.written) {
    for (const fs::directory_entry& entry : fs::directory_iterator(launch_.images)) {
      if (entry.path().extension() != ".new") continue;
      fs::rename(entry.path(), fs::path(entry.path()).replace_extension());
    }
    const std::string path = launch_.images + "/" + worker::ImageName(image.checkpoint, kPid);
    absl::StatusOr<worker::ImageFacts> facts = worker::VerifyImage(path);
    if (facts.ok()) {
      image.superstep = facts->superstep;
      for (const std::string& text : facts->texts) {
        const UniqueFd file(open((launch_.images + "/" + text).c_str(), O_RDONLY | O_CLOEXEC));
        const absl::Status verified = worker::VerifyText(file.get(), text);
        if (!verified.ok()) facts = verified;
      }
    }
    if (!facts.ok()) {
      image.written = false;
      image.reason = std::string(facts.status().message());
    }
  }
  if (!image.written) chain_ = 0;
  const std::uint64_t done = checkpoint_;
  OrderNext();
  segment_->ReleaseHeld(done);
}

void HostedProgram::OnHello(const LinkHello& hello) {
  if (hello.kind == LinkHello::kHello) {
    outcome_.hello_ns = NowNs();
    const LinkWelcome welcome{.magic = kLinkMagic,
                              .version = kLinkVersion,
                              .pid = 0,
                              .processors = 2,
                              .segment_bytes = segment_->bytes()};
    if (saving()) OrderNext();  // Before it can pass a barrier.
    Answer(&welcome, sizeof welcome, segment_->fd());
  } else if (hello.kind == LinkHello::kSaving) {
    OnSaving();
  } else if (hello.kind == LinkHello::kResume) {
    const LinkImagePlace place{.magic = kLinkMagic, .version = kLinkVersion};
    UniqueFd areas;
    if (!launch_.areas.empty()) areas = UniqueFd(open(launch_.areas.c_str(), O_RDONLY | O_CLOEXEC));
    Answer(&place, sizeof place, areas.get());
  }
}

void HostedProgram::OnLink() {
  union {
    LinkHello hello;
    LinkImageReport report;
  } message{};
  const ssize_t n = recv(link_.ours.get(), &message, sizeof message, MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN)) {
    link_.ours.Reset();
  } else if (n == sizeof message.report) {
    OnReport(message.report);
  } else if (n == sizeof message.hello) {
    OnHello(message.hello);
  }
}

ProgramOutcome HostedProgram::Run() {
  Start();
  // glibc 2.36 declares pidfd_open for C only.
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, os_pid_, 0)));
  for (;;) {
    pollfd waits[] = {{output_.ours.get(), POLLIN, 0},
                      {errors_.ours.get(), POLLIN, 0},
                      {link_.ours.get(), POLLIN, 0},
                      {process.get(), POLLIN, 0}};
    poll(waits, 4, -1);
    Drain();
    if (waits[2].revents != 0) OnLink();
    if (waits[3].revents != 0) break;
  }
  Drain();
  waitpid(os_pid_, &outcome_.wait_status, 0);
  return std::move(outcome_);
}

}  // namespace

ProgramOutcome RunProgram(const ProgramLaunch& launch) { return HostedProgram(launch).Run(); }

ProgramOutcome RestoreProgram(const std::string& restorer, const std::vector<TakenImage>& images,
                              const TakenImage& image, const std::string& old_directory,
                              ProgramLaunch launch) {
  const std::string stored = fs::path(image.files).parent_path();
  std::vector<std::string> chain;
  for (std::uint64_t wanted = image.checkpoint; wanted != 0; wanted = images[wanted - 1].base) {
    chain.insert(chain.begin(), stored + "/" + worker::ImageName(wanted, kPid));
  }
  launch.directory = old_directory + "-restored";
  fs::remove_all(launch.directory);
  fs::copy(image.files, launch.directory, fs::copy_options::recursive);
  launch.superstep = image.superstep;
  launch.command = worker::RestoreArguments({.images = chain,
                                             .texts = stored,
                                             .link = worker::kLinkFd,
                                             .old_directory = old_directory,
                                             .new_directory = launch.directory});
  launch.command[0] = restorer;
  return RunProgram(launch);
}

GivenPrograms& Given() {
  static GivenPrograms given;
  return given;
}

bool TakePrograms(int argc, char** argv) {
  if (argc != 3 && argc != 4) return false;
  Given() = {.program = std::filesystem::absolute(argv[1]),
             .restorer = std::filesystem::absolute(argv[2]),
             .memory_bytes = argc == 3 ? 0 : std::strtoull(argv[3], nullptr, 10) << 20};
  return true;
}

}  // namespace bspnow
