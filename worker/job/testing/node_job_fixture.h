// A node without its coordinator: HostedJobs with a real bsp-host, and a test that gives the orders
// and collects the events.
#ifndef WORKER_JOB_TESTING_NODE_JOB_FIXTURE_H_
#define WORKER_JOB_TESTING_NODE_JOB_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "files/sha256.h"
#include "worker/checkpoint/stored_checkpoints.h"
#include "worker/core/hosted_jobs.h"
#include "worker/job/node_job.h"
#include "worker/node_facts.h"

namespace bspnow::worker {

namespace fs = std::filesystem;

inline constexpr std::uint64_t kPatienceMs = 100'000;
inline constexpr std::uint64_t kLeaseMs = 3'600'000;
inline constexpr std::uint64_t kOrphanTimeoutNs = 1'000'000'000;
inline constexpr std::uint32_t kSelf = 3;
inline constexpr int kThreadsOfEach = 2;
inline constexpr char kBspProgram[] = "examples/hello";

constexpr uid_t kAnyUser = 1;  // But not root.

class NodeJobTest : public testing::Test {
 protected:
  NodeJobTest() {
    fs::create_directories(root_ + "/cache");
    fs::create_directories(root_ + "/jobs");
  }
  ~NodeJobTest() override { Close(); }

  void Close() {
    threads_.reset();
    jobs_.reset();
    data_plane_.reset();
  }

  // As an earlier run would have left it in the cache.
  std::string AddContent(const fs::path& from) {
    std::ostringstream content;
    content << std::ifstream(from).rdbuf();
    const std::string bytes = content.str();
    files::Sha256 sum;
    sum.Add(bytes);
    const std::string hash = sum.Hexadecimal();
    const std::string path = root_ + "/cache/" + hash;
    fs::copy_file(from, path, fs::copy_options::skip_existing);
    chmod(path.c_str(), 0555);
    return hash;
  }
  std::string AddText(const std::string& text) {
    const std::string path = root_ + "/text";
    std::ofstream(path) << text;
    return AddContent(path);
  }
  std::string AddScript(const std::string& text) { return AddText("#!/bin/sh\n" + text + "\n"); }

  void Open() {
    OpenWithoutLease();
    jobs_->OnLeaseRenewed(NowNs());
  }

  void OpenWithoutLease() {
    auto data_plane = DataPlane::Create(
        loop_, {.listen = "127.0.0.1:0", .congestion = "default", .incarnation = 1},
        {.broken = [](JobId, Epoch, ExchangeFault, const std::string&) {},
         .lease_renewed = [](std::uint64_t) {}});
    ASSERT_TRUE(data_plane.ok());
    data_plane_ = std::move(*data_plane);
    // Nobody is there; jobs on one node do not need it.
    data_plane_->JoinCoordinator(
        {.self = WorkerId{kSelf}, .barrier_address = "127.0.0.1:9", .heartbeat_ms = 1000});
    auto cache = BlobCache::Open(root_ + "/cache", 1 << 30,
                                 [this](const std::string&, const files::BlobStore&,
                                        OpenCalls& calls) { return fetch_(calls); });
    ASSERT_TRUE(cache.ok());
    cache_ = std::move(*cache);
    auto images = ImageStore::Open({.root = root_ + "/checkpoints",
                                    .quota_bytes = quota_bytes_,
                                    .sharing = ImageStore::Sharing::kOwn});
    ASSERT_TRUE(images.ok()) << images.status();
    images_ = std::move(*images);
    transfer_ = std::make_unique<ImageTransfer>(*images_, RpcCredentials::Plain());
    threads_ = std::make_unique<NodeThreads>(kThreadsOfEach);
    checkpoints_ = std::make_unique<StoredCheckpoints>(loop_, *threads_, *images_, *transfer_);
    hosting_ = std::make_unique<NodeHosting>(NodeParts{
        .loop = loop_,
        .data_plane = *data_plane_,
        .cache = *cache_,
        .threads = *threads_,
        .images = *images_,
        .transfer = *transfer_,
        .limits = limits_,
        .jobs_directory = root_ + "/jobs",
        .host_program = fs::absolute("worker/host/bsp-host").string(),
        .restore_program = fs::absolute("worker/restore/bsp-restore").string(),
        .accounts = accounts_,
        .cgroups = cgroups_,
        .memory_kills = memory_kills_,
        .processors = UsableProcessors(),
        .memory_bytes = MemoryBytes(),
        .files_bytes_max = 10'000,
        .store_profile = [this](JobId, std::uint32_t, const std::string&) { return profile_(); },
        .store_files =
            [this](JobId, const std::vector<LeftFile>& files, const LeftFileReader&) {
              const std::scoped_lock lock(stored_mutex_);
              if (!refusals_.empty()) {
                const absl::Status refusal = refusals_.front();
                refusals_.pop_front();
                return refusal;
              }
              stored_ = files;
              return absl::OkStatus();
            }});
    jobs_ = std::make_unique<HostedJobs>(
        *hosting_, *checkpoints_, kOrphanTimeoutNs,
        [this](proto::WorkerEvent event) { events_.push_back(std::move(event)); });
    proto::RegisterReply registered;
    registered.set_worker(kSelf);
    registered.set_lease_ms(kLeaseMs);
    registered.set_heartbeat_ms(1000);
    jobs_->OnRegistered(registered);
  }

  static proto::Order StartOrder(std::uint64_t job, const std::string& hash, std::uint32_t nprocs) {
    proto::Order order;
    proto::StartJob& start = *order.mutable_start();
    start.set_job(job);
    start.set_epoch(1);
    start.mutable_spec()->set_nprocs(nprocs);
    start.mutable_spec()->mutable_program()->set_name("program");
    start.mutable_spec()->mutable_program()->set_sha256(hash);
    start.mutable_spec()->add_arguments("program");
    proto::Host& host = *start.add_hosts();
    host.set_worker(kSelf);
    for (std::uint32_t pid = 0; pid < nprocs; ++pid) host.add_pids(pid);
    return order;
  }
  static proto::Order EndOrder(std::uint64_t job) {
    proto::Order order;
    order.mutable_end()->set_job(job);
    order.mutable_end()->set_epoch(1);
    order.mutable_end()->set_keep_files(true);
    return order;
  }

  template <typename Condition>
  bool RunUntil(Condition condition) {
    bool late = false;
    const TimerId limit = loop_.AddTimer(kPatienceMs, [&late] { late = true; });
    while (!condition() && !late) loop_.RunOnce();
    loop_.CancelTimer(limit);
    return !late;
  }
  std::size_t Count(proto::WorkerEvent::WhatCase what) const {
    return static_cast<std::size_t>(
        std::count_if(events_.begin(), events_.end(),
                      [what](const auto& event) { return event.what_case() == what; }));
  }
  bool RunUntilExited(std::size_t processes) {
    return RunUntil([&] { return Count(proto::WorkerEvent::kExited) == processes; });
  }
  bool End(std::uint64_t job) {
    jobs_->OnOrder(EndOrder(job));
    return RunUntil([&] { return jobs_->jobs() == 0; });
  }
  std::string Output() const {
    std::string text;
    for (const proto::WorkerEvent& event : events_) text += event.output().text();
    return text;
  }
  const proto::WorkerEvent& First(proto::WorkerEvent::WhatCase what) const {
    return *std::find_if(events_.begin(), events_.end(),
                         [what](const auto& event) { return event.what_case() == what; });
  }
  bool JobsDirectoryIsEmpty() const { return fs::is_empty(root_ + "/jobs"); }

  const RaisedLimits limits_;
  const ScratchDirectory scratch_;
  const std::string root_ = scratch_.path() + "/a,b";  ///< Any name will do.
  std::uint64_t quota_bytes_ = 0;
  CgroupTrees cgroups_ = PrepareCgroups();
  std::vector<std::string> memory_kills_;
  /// Of what is not in the cache.
  std::function<absl::Status(OpenCalls& calls)> fetch_ = [](OpenCalls&) {
    return absl::NotFoundError("no such content");
  };
  std::function<absl::Status()> profile_ = [] {
    return absl::OkStatus();
  };  ///< Whether it is kept.
  EventLoop loop_;
  std::unique_ptr<DataPlane> data_plane_;
  std::unique_ptr<BlobCache> cache_;
  std::unique_ptr<ImageStore> images_;
  std::unique_ptr<ImageTransfer> transfer_;
  std::unique_ptr<NodeThreads> threads_;
  std::unique_ptr<StoredCheckpoints> checkpoints_;
  Accounts accounts_ = *Accounts::Of("own:everybody", kAnyUser);
  std::unique_ptr<NodeHosting> hosting_;
  std::unique_ptr<HostedJobs> jobs_;
  std::vector<proto::WorkerEvent> events_;
  std::mutex stored_mutex_;
  std::vector<LeftFile> stored_;
  std::deque<absl::Status> refusals_;  ///< Of files that are sent.
};

}  // namespace bspnow::worker

#endif  // WORKER_JOB_TESTING_NODE_JOB_FIXTURE_H_
