#include "coordinator/journal/sqlite_database.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow::coordinator {
namespace {

// Else who reads "unable to open database file" looks for rights and room.
TEST(SqliteDatabaseTest, SaysWhatTheSystemSaysWhereAFileCannotBeOpened) {
  const ScratchDirectory scratch;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const UniqueFd next(open("/dev/null", O_RDONLY));
  const rlimit none{.rlim_cur = static_cast<rlim_t>(next.get()) + 1, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto opened = SqliteDatabase::Open(scratch.path() + "/jobs.sqlite");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_NE(opened.status().message().find("Too many open files"), absl::string_view::npos)
      << opened.status();
  EXPECT_TRUE(SqliteDatabase::Open(scratch.path() + "/jobs.sqlite").ok());
}

}  // namespace
}  // namespace bspnow::coordinator
