#include "client/run/program_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

namespace bspnow::client {
namespace {

std::string WriteFile(const std::string& name, const std::string& text, mode_t mode) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

TEST(FindProgramTest, SaysWhatIsMissing) {
  const auto found = FindProgram("./no_such_program");
  EXPECT_TRUE(absl::IsNotFound(found.status()));
  EXPECT_NE(found.status().ToString().find("./no_such_program not found"), std::string::npos);
}

TEST(FindProgramTest, RefusesWhatIsNotExecutable) {
  const auto found = FindProgram(WriteFile("data", "1 2 3\n", 0644));
  EXPECT_TRUE(absl::IsPermissionDenied(found.status()));
  EXPECT_TRUE(absl::IsPermissionDenied(FindProgram(testing::TempDir() + "/.").status()));
}

TEST(FindProgramTest, LooksOnThePathForAPlainName) {
  WriteFile("bsp_find_me", "#!/bin/sh\n", 0755);
  ASSERT_EQ(setenv("PATH", testing::TempDir().c_str(), 1), 0);
  const auto found = FindProgram("bsp_find_me");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, testing::TempDir() + "/bsp_find_me");
}

TEST(LinkedWithLibbspTest, KnowsNothingOfAScript) {
  EXPECT_EQ(LinkedWithLibbsp(WriteFile("script", "#!/bin/sh\n", 0755)), Linked::kUnknown);
}

TEST(LinkedWithLibbspTest, KnowsNothingOfAnInterpreterThatCanLoadIt) {
  EXPECT_EQ(LinkedWithLibbsp(WriteFile("python3.11", "\177ELF", 0755)), Linked::kUnknown);
}

TEST(LinkedWithLibbspTest, SeesTheNoteOfAStaticLibrary) {
  using std::literals::operator""s;
  const std::string elf = "\177ELF and so on"s;
  EXPECT_EQ(LinkedWithLibbsp(WriteFile("other", elf, 0755)), Linked::kNo);
  const std::string note = "\7\0\0\0\4\0\0\0\1\0\0\0bspnow\0"s;
  EXPECT_EQ(LinkedWithLibbsp(WriteFile("program", elf + note, 0755)), Linked::kYes);
}

}  // namespace
}  // namespace bspnow::client
