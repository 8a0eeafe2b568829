#include "files/sha256.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow::files {
namespace {

constexpr char kSha256OfHello[] =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

TEST(Sha256Test, IsThatOfAllPieces) {
  Sha256 hash;
  hash.Add("he");
  hash.Add("");
  hash.Add("llo");
  EXPECT_EQ(hash.Hexadecimal(), kSha256OfHello);
}

TEST(Sha256Test, OfAFileIsThatOfItsBytes) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/hello";
  std::ofstream(path) << "hello";
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto content = ContentOf(file.get(), path);
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->sha256, kSha256OfHello);
  EXPECT_EQ(content->bytes, 5u);
}

TEST(Sha256Test, IsWrittenInSixtyFourLowerCaseDigits) {
  EXPECT_TRUE(CheckSha256(kSha256OfHello).ok());
  for (const std::string& name :
       {std::string(), std::string("../../etc/passwd"), std::string("2CF24DBA"),
        std::string(64, 'A'), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g')})
    EXPECT_FALSE(CheckSha256(name).ok()) << name;
}

}  // namespace
}  // namespace bspnow::files
