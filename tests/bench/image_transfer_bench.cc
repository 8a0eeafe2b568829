// How fast images become durable here, go to a partner, and come back; beside a file of the same
// size that is just written and synced.
//
//   image_transfer_bench DIRECTORY MEBIBYTES              all of that on loopback
//   image_transfer_bench DIRECTORY serve                  a service, until it is killed
//   image_transfer_bench DIRECTORY MEBIBYTES put ADDRESS  to such a one
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "worker/checkpoint/image_store.h"
#include "worker/checkpoint/images_service.h"
#include "worker/checkpoint/images_stub.h"
#include "worker/checkpoint/testing/image_fixture.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {
namespace {

constexpr JobId kJob{1};
const char kName[] = "c1.p0";

std::unique_ptr<ImageStore> OpenStore(const std::string& root) {
  auto store =
      ImageStore::Open({.root = root, .quota_bytes = 0, .sharing = ImageStore::Sharing::kOwn});
  BSP_CHECK(store.ok());
  (*store)->token().Set(*StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k')));
  return *std::move(store);
}

void Measure(const char* what, std::size_t bytes, const std::function<absl::Status()>& run) {
  const std::uint64_t before_ns = NowNs(), used_ns = ProcessorNs();
  const absl::Status status = run();
  const double seconds = static_cast<double>(NowNs() - before_ns) * 1e-9;
  printf("%-20s %7.3f s %7.3f s of processors %7.0f MB/s  %s\n", what, seconds,
         static_cast<double>(ProcessorNs() - used_ns) * 1e-9,
         static_cast<double>(bytes) / seconds * 1e-6, status.ToString().c_str());
}

absl::Status WriteAndSync(const std::string& path, const std::string& bytes) {
  WriteFile(path, bytes);
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  return fsync(file.get()) == 0 ? absl::OkStatus() : absl::InternalError("fsync");
}

/// An image in a store, as a process wrote it.
std::string WriteImage(ImageStore& store, std::size_t bytes) {
  std::string image =
      Encode({.job = kJob, .checkpoint = 1, .base = 0, .pid = 0, .texts = {}, .data_bytes = bytes});
  mkdir(store.DirectoryOf(kJob).c_str(), 0700);
  WriteFile(store.PathOf(kJob, std::string(kName) + ".new"), image);
  return image;
}

int Serve(const std::string& directory) {
  const auto store = OpenStore(directory);
  EventLoop loop;
  const auto server = ImagesServer::Start(loop, *store, {.host = "127.0.0.1", .port = 0},
                                          RpcCredentials::Plain(), [](JobId, std::uint64_t) {});
  BSP_CHECK(server.ok());
  printf("%s\n", (*server)->address().ToString().c_str());
  fflush(stdout);
  loop.Run();
  return 0;
}

int Run(const std::string& directory, std::size_t bytes, const char* to) {
  const auto here = OpenStore(directory + "/here"), there = OpenStore(directory + "/there");
  const auto again = OpenStore(directory + "/again");
  EventLoop loop;
  const auto server = ImagesServer::Start(loop, *there, {.host = "127.0.0.1", .port = 0},
                                          RpcCredentials::Plain(), [](JobId, std::uint64_t) {});
  BSP_CHECK(server.ok());
  const std::jthread accepting([&loop] { loop.Run(); });
  const std::string address = to == nullptr ? (*server)->address().ToString() : to;
  const std::string image = WriteImage(*here, bytes);
  ImagesStub stub(RpcCredentials::Plain());
  OpenCalls restore;
  Measure("write and fsync", bytes, [&] { return WriteAndSync(directory + "/plain", image); });
  Measure("settle", bytes, [&] { return here->Settle(kJob, 1, {kName}); });
  Measure("verify", bytes, [&] { return here->Verify(kJob, kName); });
  Measure("put, durable there", bytes, [&] { return stub.Put(address, *here, kJob, kName); });
  Measure("get, verified", bytes, [&] { return stub.Get(address, *again, kJob, kName, restore); });
  for (ImageStore* const store : {here.get(), there.get(), again.get()})
    store->Keep(kJob, {}, store->last_list());
  loop.Post([&loop] { loop.Stop(); });
  return 0;
}

}  // namespace
}  // namespace bspnow::worker

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[2]) == "serve") return bspnow::worker::Serve(argv[1]);
  if (argc < 3) return 2;
  const std::size_t bytes = strtoull(argv[2], nullptr, 10) << 20;
  return bspnow::worker::Run(argv[1], bytes, argc == 5 ? argv[4] : nullptr);
}
