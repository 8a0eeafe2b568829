#include "client/standard_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace bspnow::client {
namespace {

/// Descriptor 1 is this file meanwhile.
class Redirected {
 public:
  explicit Redirected(int file) : saved_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    std::cout.flush();
    dup2(file, STDOUT_FILENO);
  }
  ~Redirected() {
    std::cout.clear();
    dup2(saved_.get(), STDOUT_FILENO);
  }

 private:
  const UniqueFd saved_;
};

TEST(StandardOutputTest, AllOfItComesThroughAPipeThatIsNonBlocking) {
  constexpr int kLines = 100'000;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  fcntl(write_end.get(), F_SETFL, O_NONBLOCK);
  std::string wanted;
  for (int i = 0; i < kLines; ++i) wanted += "line " + std::to_string(i) + "\n";
  std::string arrived;
  std::jthread reader([&] {
    char piece[4096];
    ssize_t n;
    while ((n = read(read_end.get(), piece, sizeof piece)) > 0)
      arrived.append(piece, static_cast<std::size_t>(n));
  });
  absl::Status written;
  {
    const Redirected redirected(write_end.get());
    StandardOutput output;
    for (int i = 0; i < kLines; ++i) std::cout << "line " << i << "\n";
    written = output.Flush();
  }
  write_end.Reset();
  reader.join();
  EXPECT_TRUE(written.ok()) << written;
  EXPECT_TRUE(arrived == wanted) << arrived.size() << " of " << wanted.size() << " bytes";
}

TEST(StandardOutputTest, SaysWhyNotAllOfItCouldBeWritten) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  absl::Status written;
  bool noticed;
  {
    const Redirected redirected(full.get());
    StandardOutput output;
    std::cout << "line\n" << std::flush << "another\n";
    noticed = !std::cout;
    written = output.Flush();
  }
  EXPECT_TRUE(noticed);
  EXPECT_EQ(written.message(), "writing standard output: No space left on device");
}

}  // namespace
}  // namespace bspnow::client
