#include "client/run/program_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

namespace bspnow::client {
namespace {

using testing::HasSubstr;

std::string WriteFile(const std::string& name, const std::string& text, mode_t mode) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

TEST(FindProgramTest, SaysWhatIsMissing) {
  const auto found = FindProgram("./no_such_program", "");
  EXPECT_TRUE(absl::IsNotFound(found.status()));
  EXPECT_NE(found.status().ToString().find("./no_such_program not found"), std::string::npos);
}

TEST(FindProgramTest, RefusesWhatIsNotExecutable) {
  const auto found = FindProgram(WriteFile("data", "1 2 3\n", 0644), "");
  EXPECT_TRUE(absl::IsPermissionDenied(found.status()));
  EXPECT_TRUE(absl::IsPermissionDenied(FindProgram(testing::TempDir() + "/.", "").status()));
}

TEST(FindProgramTest, AddsTheHintToWhatIsMissingOnly) {
  const auto told = [](const std::string& name) {
    return std::string(FindProgram(name, "; a hint").status().message());
  };
  EXPECT_TRUE(told("no_such_program").ends_with("./no_such_program; a hint"));
  EXPECT_TRUE(told("./no_such_program").ends_with("No such file or directory; a hint"));
  EXPECT_TRUE(told(WriteFile("data", "1 2 3\n", 0644)).ends_with("chmod +x it"));
}

/// The header of this test's own program, changed.
std::string Header(void (*change)(Elf64_Ehdr&)) {
  Elf64_Ehdr header{};
  std::ifstream("/proc/self/exe").read(reinterpret_cast<char*>(&header), sizeof header);
  change(header);
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

TEST(FindProgramTest, RefusesWhatNoSuchMachineCanExecute) {
  const auto told = [](const std::string& text) {
    const auto found = FindProgram(WriteFile("strange", text, 0755), "");
    EXPECT_EQ(found.ok() ? 0 : StatusOfFailure(found.status()), found.ok() ? 0 : 126);
    return std::string(found.status().message());
  };
  EXPECT_THAT(told(""), HasSubstr("neither a compiled program nor a script"));
  EXPECT_THAT(told("echo hi\n"), HasSubstr("neither a compiled program nor a script"));
  EXPECT_THAT(told(Header([](Elf64_Ehdr& header) { header.e_machine += 1; })),
              HasSubstr("another kind of processor"));
  EXPECT_THAT(told(Header([](Elf64_Ehdr& header) { header.e_ident[EI_CLASS] = ELFCLASS32; })),
              HasSubstr("another kind of processor"));
  EXPECT_THAT(told(Header([](Elf64_Ehdr& header) { header.e_type = ET_REL; })),
              HasSubstr("not linked"));
  EXPECT_EQ(told(Header([](Elf64_Ehdr&) {})), "");
  EXPECT_EQ(told("#!/bin/sh\n"), "");
}

TEST(FindProgramTest, LooksOnThePathForAPlainName) {
  WriteFile("bsp_find_me", "#!/bin/sh\n", 0755);
  ASSERT_EQ(setenv("PATH", testing::TempDir().c_str(), 1), 0);
  const auto found = FindProgram("bsp_find_me", "");
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

TEST(BatchLinesInTest, FindsThemInScriptsAlone) {
  const std::string lines = "#SBATCH --ntasks=4\nsrun ./a.out\n";
  EXPECT_EQ(BatchLinesIn(WriteFile("job.sh", "#!/bin/bash\n" + lines, 0755)), "#SBATCH");
  EXPECT_EQ(BatchLinesIn(WriteFile("pbs.sh", "#!/bin/sh\n#PBS -l nodes=2\n", 0755)), "#PBS");
  EXPECT_EQ(BatchLinesIn(WriteFile("own.sh", "#!/bin/sh\necho '#SBATCH x'\n", 0755)), "");
  EXPECT_EQ(BatchLinesIn(WriteFile("elf", "\177ELF\n" + lines, 0755)), "");
}

}  // namespace
}  // namespace bspnow::client
