#include "runtime/link/link_client.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <span>

#include "base/clock.h"
#include "base/send_descriptors.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kSpinNs = 120'000;  // Longer than the client polls.
constexpr int kPeriodUs = 200;

void Spin(int) {
  const std::uint64_t start_ns = NowNs();
  while (NowNs() - start_ns < kSpinNs) {
  }
}

/// Takes the processor away at any instruction, as a busy machine does.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = Spin;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    Set(kPeriodUs);
  }
  ~Interruptions() { Set(0); }

 private:
  static void Set(int period_us) {
    const timeval period{.tv_sec = 0, .tv_usec = period_us};
    const itimerval timer{.it_interval = period, .it_value = period};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
};

TEST(LinkClientTest, FindsTheAnswerThatIsThereHoweverLongItWasKeptFromLooking) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const UniqueFd link(ends[0]);
  const UniqueFd worker(ends[1]);
  const LinkImagePlace place{.magic = kLinkMagic, .version = kLinkVersion};
  const Interruptions interruptions;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(send(worker.get(), &place, sizeof place, 0), ssize_t{sizeof place});
    EXPECT_FALSE(AskForImages(KnownDescriptor(link.get()), LinkHello::kSaving)
                     .descriptor.valid());  // Else it ends this process.
    LinkHello hello;
    ASSERT_EQ(recv(worker.get(), &hello, sizeof hello, 0), ssize_t{sizeof hello});
  }
}

void AnswerWith(const UniqueFd& descriptor, const UniqueFd& worker) {
  const LinkImagePlace place{.magic = kLinkMagic, .version = kLinkVersion};
  const int number[] = {descriptor.get()};
  ASSERT_EQ(
      SendDescriptors(worker.get(), std::as_bytes(std::span(&place, 1)), number, IfFull::kFail),
      ssize_t{sizeof place});
}

// Without it one would wait for an image that nobody writes.
TEST(LinkClientTest, KnowsThatThereWasNoNumberForADescriptor) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const UniqueFd link(ends[0]);
  const UniqueFd worker(ends[1]);
  const KnownDescriptor known(link.get());
  AnswerWith(link, worker);
  PlaceOfImages place = AskForImages(known, LinkHello::kSaving);
  ASSERT_TRUE(place.descriptor.valid());
  EXPECT_FALSE(place.lost);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = static_cast<rlim_t>(place.descriptor.get()),
                    .rlim_max = before.rlim_max};
  place.descriptor.Reset();
  AnswerWith(link, worker);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  place = AskForImages(known, LinkHello::kSaving);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(place.descriptor.valid());
  EXPECT_TRUE(place.lost);
}

}  // namespace
}  // namespace bspnow::runtime
