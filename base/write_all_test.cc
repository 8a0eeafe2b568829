#include "base/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace bspnow {
namespace {

TEST(WriteAllTest, WaitsForTheReaderOfAPipeThatIsNonBlocking) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  fcntl(write_end.get(), F_SETFL, O_NONBLOCK);
  const std::string bytes(std::size_t{1} << 20, 'x');
  std::size_t arrived = 0;
  std::jthread reader([&] {
    char piece[4096];
    ssize_t n;
    while ((n = read(read_end.get(), piece, sizeof piece)) > 0)
      arrived += static_cast<std::size_t>(n);
  });
  const absl::Status written = WriteAll(write_end.get(), bytes, "a pipe");
  write_end.Reset();
  reader.join();
  EXPECT_TRUE(written.ok()) << written;
  EXPECT_EQ(arrived, bytes.size());
}

TEST(WriteAllTest, SaysWhatCouldNotBeWritten) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  const absl::Status written = WriteAll(full.get(), "x", "the report");
  EXPECT_EQ(written.message(), "writing the report: No space left on device");
}

}  // namespace
}  // namespace bspnow
