#include "worker/host/image_place.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kPatienceMs = 10;
constexpr std::uint64_t kLongMs = 60'000;

absl::StatusOr<UniqueFd> Open(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

TEST(ImagePlaceTest, GivesWhatWasOpenedOrWhyNot) {
  ImagePlace there(Open, kLongMs);
  EXPECT_TRUE(there.Take("/")->valid());
  EXPECT_TRUE(there.Take("/")->valid());
  ImagePlace missing([](const std::string&) { return absl::NotFoundError("no such directory"); },
                     kLongMs);
  EXPECT_EQ(missing.Take("/").status().message(), "no such directory");
}

TEST(ImagePlaceTest, WaitsForNoFileServerThatIsGone) {
  struct Server {
    std::promise<void> back;
    std::promise<void> has_answered;
    std::atomic<int> calls = 0;
  };
  const auto server = std::make_shared<Server>();
  ImagePlace place(
      [server, is_back = server->back.get_future().share()](const std::string& path) {
        server->calls += 1;
        is_back.wait();
        if (server->calls == 1) server->has_answered.set_value_at_thread_exit();
        return Open(path);
      },
      kPatienceMs);
  EXPECT_TRUE(absl::IsUnavailable(place.Take("/").status()));
  EXPECT_TRUE(absl::IsUnavailable(place.Take("/").status()));
  server->back.set_value();
  server->has_answered.get_future().wait();
  EXPECT_EQ(server->calls, 1) << "one at a time";
  absl::StatusOr<UniqueFd> taken = absl::UnavailableError("not yet");
  while (!taken.ok()) taken = place.Take("/");  // The machine may be busy for 10 ms.
  EXPECT_TRUE(taken->valid());
}

}  // namespace
}  // namespace bspnow::worker
