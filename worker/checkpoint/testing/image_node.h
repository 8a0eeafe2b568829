// For tests: one worker's store of images, with its service and what fetches from others.
#ifndef WORKER_CHECKPOINT_TESTING_IMAGE_NODE_H_
#define WORKER_CHECKPOINT_TESTING_IMAGE_NODE_H_

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "net/event_loop.h"
#include "net/stream_key.h"
#include "net/tls/rpc_credentials.h"
#include "worker/checkpoint/image_transfer.h"
#include "worker/checkpoint/images_service.h"
#include "worker/checkpoint/testing/image_fixture.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {

inline constexpr JobId kJob{17};
inline const StreamKey kImagesKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));
inline const std::string kLibrary = "what a library has in its text";

using Names = std::vector<std::string>;

class Node {
 public:
  explicit Node(std::uint64_t quota_bytes) : Node(quota_bytes, RpcCredentials::Plain()) {}

  Node(std::uint64_t quota_bytes, const RpcCredentials& credentials) {
    auto opened = ImageStore::Open({.root = scratch_.path(),
                                    .quota_bytes = quota_bytes,
                                    .sharing = ImageStore::Sharing::kOwn});
    EXPECT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
    store_->token().Set(kImagesKey);
    auto started = ImagesServer::Start(loop_, *store_, {.host = "127.0.0.1", .port = 0},
                                       credentials, [this](JobId job, std::uint64_t checkpoint) {
                                         EXPECT_EQ(job, kJob);
                                         EXPECT_LE(checkpoint, 3u);
                                         received_ += 1;
                                         if (on_received_) on_received_();
                                       });
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    accepting_ = std::jthread([this] { loop_.Run(); });
    transfer_ = std::make_unique<ImageTransfer>(*store_, credentials);
  }

  ~Node() {
    loop_.Post([this] { loop_.Stop(); });
    accepting_.join();
  }

  /// As if the processes `pids` had taken a checkpoint here.
  void Take(std::uint64_t checkpoint, std::uint64_t base, const std::vector<std::uint32_t>& pids) {
    const absl::Status settled = TryTake(checkpoint, base, pids);
    ASSERT_TRUE(settled.ok()) << settled;
  }

  absl::Status TryTake(std::uint64_t checkpoint, std::uint64_t base,
                       const std::vector<std::uint32_t>& pids) {
    mkdir(store_->DirectoryOf(kJob).c_str(), 0700);
    Names names{FilesName(checkpoint, pids.front())};
    WriteArchive(PathOf(names[0] + ".new"));
    if (!store_->Has(kJob, TextNameOf(kLibrary)))
      WriteFile(PathOf(TextNameOf(kLibrary) + ".new"), kLibrary);
    for (const std::uint32_t pid : pids) {
      names.push_back(ImageName(checkpoint, Pid{pid}));
      WriteFile(PathOf(names.back() + ".new"), Encode({.job = kJob,
                                                       .checkpoint = checkpoint,
                                                       .base = base,
                                                       .pid = pid,
                                                       .texts = {kLibrary},
                                                       .data_bytes = std::size_t{384} << 12}));
    }
    return store_->Settle(kJob, checkpoint, names);
  }

  CollectedImages Collect(const proto::Resume& resume, const std::vector<std::uint32_t>& pids) {
    return transfer_->Collect(kJob, resume, pids, {.files = restore_, .images = images_});
  }

  std::string PathOf(const std::string& name) const { return store_->PathOf(kJob, name); }
  std::string address() const { return server_->address().ToString(); }
  ImageStore& store() { return *store_; }
  const ImageStore& store() const { return *store_; }
  ImageTransfer& transfer() { return *transfer_; }
  OpenCalls& restore() { return restore_; }
  OpenCalls& images_of_restore() { return images_; }
  ImagesServer& server() { return *server_; }
  std::size_t received() const { return received_; }
  /// Called after each image or archive that comes from another node.
  void OnReceived(std::function<void()> call) { on_received_ = std::move(call); }

  std::size_t files() const {
    const std::filesystem::directory_iterator entries(store_->DirectoryOf(kJob));
    return static_cast<std::size_t>(std::distance(entries, {}));
  }

 private:
  const ScratchDirectory scratch_ = ScratchDirectory::InMemory();
  std::atomic<std::size_t> received_ = 0;
  std::function<void()> on_received_;
  EventLoop loop_;
  std::jthread accepting_;
  std::unique_ptr<ImageStore> store_;
  std::unique_ptr<ImagesServer> server_;
  std::unique_ptr<ImageTransfer> transfer_;
  OpenCalls restore_;
  OpenCalls images_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_TESTING_IMAGE_NODE_H_
