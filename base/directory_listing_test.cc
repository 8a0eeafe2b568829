#include "base/directory_listing.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/scratch_directory.h"

namespace {

/// Until the disk fails; negative: it is well.
int& EntriesLeft() {
  static int left = -1;
  return left;
}

template <typename Entry>
Entry* Read(const char* call, DIR* directory) {
  if (EntriesLeft() == 0) {
    errno = EIO;
    return nullptr;
  }
  if (EntriesLeft() > 0) EntriesLeft() -= 1;
  return reinterpret_cast<Entry* (*)(DIR*)>(dlsym(RTLD_NEXT, call))(directory);
}

}  // namespace

// Either is what the C++ library may call.
extern "C" dirent* readdir(DIR* directory) { return Read<dirent>("readdir", directory); }
extern "C" dirent64* readdir64(DIR* directory) { return Read<dirent64>("readdir64", directory); }

namespace bspnow {
namespace {

TEST(DirectoryListingTest, ADiskThatCannotReadOnIsAnErrorAndNoEnd) {
  constexpr int kFiles = 3;
  const ScratchDirectory scratch;
  for (int i = 0; i < kFiles; ++i) std::ofstream(scratch.path() + "/" + std::to_string(i)) << i;
  const DirectoryListing all = ListDirectory(scratch.path());
  EXPECT_EQ(all.names.size(), 3u);
  EXPECT_FALSE(all.error);
  const int with_dots = kFiles + 2;
  for (int read = 0; read < with_dots; ++read) {
    EntriesLeft() = read;
    const DirectoryListing some = ListDirectory(scratch.path());
    EntriesLeft() = -1;
    EXPECT_EQ(some.error, std::errc::io_error) << read;
    EXPECT_LE(some.names.size(), static_cast<std::size_t>(read));
  }
  EXPECT_EQ(ListDirectory(scratch.path() + "/none").error, std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace bspnow
