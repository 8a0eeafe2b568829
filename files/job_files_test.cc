#include "files/job_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include "base/file_state.h"
#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "files/job_files_format.h"

namespace bspnow::files {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLarge = 300'000;  // Too large to be read at the barrier.

class JobFilesTest : public testing::Test {
 protected:
  JobFilesTest() {
    fs::create_directories(job());
    fs::create_directories(later());
  }

  std::string job() const { return root_ + "/job"; }
  std::string later() const { return root_ + "/later"; }
  std::string archive() const { return root_ + "/archive"; }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(job() + "/" + name).parent_path());
    std::ofstream(job() + "/" + name) << text;
  }
  static bool Exists(const std::string& path) { return fs::exists(path); }

  NotedFiles Note(const std::vector<GivenFile>& given) {
    absl::StatusOr<NotedFiles> noted = NotedFiles::Note(job(), given);
    EXPECT_TRUE(noted.ok()) << noted.status();
    return std::move(*noted);
  }
  absl::Status Archive(const NotedFiles& noted, const std::vector<UnfinishedLine>& lines) {
    const UniqueFd file(open(archive().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    return noted.Write(file.get(), lines);
  }

  const ScratchDirectory scratch_;
  const std::string root_ = scratch_.path();
};

TEST_F(JobFilesTest, ComeBackAsTheyWere) {
  Write("out.txt", "small");
  Write("sub/dir/large", std::string(kLarge, 'x'));
  Write("empty", "");
  fs::create_directories(job() + "/nothing in it");
  chmod((job() + "/out.txt").c_str(), 0640);
  ASSERT_TRUE(Archive(Note({}), {{.pid = Pid{7}, .stream = 2, .text = "half a li"}}).ok());
  const absl::StatusOr<JobFilesFacts> facts = UnpackJobFiles(archive(), later());
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(FileText(later() + "/out.txt"), "small");
  EXPECT_EQ(FileText(later() + "/sub/dir/large"), std::string(kLarge, 'x'));
  EXPECT_TRUE(Exists(later() + "/empty"));
  EXPECT_TRUE(fs::is_directory(later() + "/nothing in it"));
  EXPECT_EQ(fs::status(later() + "/out.txt").permissions(), fs::perms{0640});
  EXPECT_EQ(facts->directory, job());
  ASSERT_EQ(facts->lines.size(), 1u);
  EXPECT_EQ(facts->lines[0].pid, Pid{7});
  EXPECT_EQ(facts->lines[0].stream, 2u);
  EXPECT_EQ(facts->lines[0].text, "half a li");
}

TEST_F(JobFilesTest, AreAsLongAsTheyWereAtTheBarrier) {
  Write("small", "before");
  Write("large", std::string(kLarge, 'x'));
  const NotedFiles noted = Note({});
  std::ofstream(job() + "/small", std::ios::app) << " after";
  std::ofstream(job() + "/large", std::ios::app) << " after";
  Write("new", "after");
  ASSERT_TRUE(Archive(noted, {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_EQ(FileText(later() + "/small"), "before");
  EXPECT_EQ(FileText(later() + "/large"), std::string(kLarge, 'x'));
  EXPECT_FALSE(Exists(later() + "/new"));
}

/// Root may write anywhere; while this lives the test may not.
class WithoutPrivileges {
 public:
  WithoutPrivileges() {
    EXPECT_EQ(syscall(SYS_capget, &header_, before_), 0);
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; ++i) {
      none[i] = before_[i];
      none[i].effective = 0;
    }
    EXPECT_EQ(syscall(SYS_capset, &header_, none), 0);
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;
  ~WithoutPrivileges() { EXPECT_EQ(syscall(SYS_capset, &header_, before_), 0); }

 private:
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct before_[_LINUX_CAPABILITY_U32S_3];
};

// Archives of several nodes are unpacked one after the other.
TEST_F(JobFilesTest, ComeIntoADirectoryThatAnotherArchiveLeftReadOnly) {
  Write("data/table", "rows");
  chmod((job() + "/data").c_str(), 0555);
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  {
    const WithoutPrivileges user;
    for (int node = 0; node < 2; ++node) {
      const absl::StatusOr<JobFilesFacts> facts = UnpackJobFiles(archive(), later());
      EXPECT_TRUE(facts.ok()) << facts.status();
    }
  }
  EXPECT_EQ(FileText(later() + "/data/table"), "rows");
  EXPECT_EQ(fs::status(later() + "/data").permissions(), fs::perms{0555});
  for (const std::string& path : {job(), later()}) chmod((path + "/data").c_str(), 0755);
}

TEST_F(JobFilesTest, MayBeReplacedOrRemovedAfterTheBarrier) {
  Write("small", "before");
  Write("large", std::string(kLarge, 'x'));
  Write("removed", std::string(kLarge, 'y'));
  const NotedFiles noted = Note({});
  Write("small", "overwritten");
  Write("new", "after");
  fs::rename(job() + "/new", job() + "/large");
  fs::remove(job() + "/removed");
  ASSERT_TRUE(Archive(noted, {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_EQ(FileText(later() + "/small"), "before");
  EXPECT_EQ(FileText(later() + "/large"), std::string(kLarge, 'x'));
  EXPECT_EQ(FileText(later() + "/removed"), std::string(kLarge, 'y'));
}

TEST_F(JobFilesTest, ThatAreCutMeanwhileAreNamed) {
  Write("large", std::string(kLarge, 'x'));
  const NotedFiles noted = Note({});
  fs::resize_file(job() + "/large", 10);
  const absl::Status written = Archive(noted, {});
  EXPECT_NE(written.message().find("large"), absl::string_view::npos) << written;
}

TEST_F(JobFilesTest, LeaveOutWhatCameWithTheJobUnlessItChanged) {
  Write("same", "given");
  Write("changed", "given");
  std::vector<GivenFile> given;
  for (const char* const name : {"same", "changed"}) {
    struct stat status {};
    ASSERT_EQ(stat((job() + "/" + name).c_str(), &status), 0);
    given.push_back({.name = name,
                     .bytes = static_cast<std::uint64_t>(status.st_size),
                     .changed_ns = FileNs(status.st_mtim),
                     .mode = status.st_mode & ACCESSPERMS});
  }
  Write("changed", "by the program");
  ASSERT_TRUE(Archive(Note(given), {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_FALSE(Exists(later() + "/same"));
  EXPECT_EQ(FileText(later() + "/changed"), "by the program");
}

TEST_F(JobFilesTest, LinksComeBackAsLinksAndAreNeverFollowed) {
  Write("../secret", "of somebody else");
  Write("data/a", "inside");
  fs::create_symlink(root_ + "/secret", job() + "/outside");
  fs::create_symlink("data/a", job() + "/inside");
  fs::create_symlink("data", job() + "/directory");
  fs::create_symlink("nowhere", job() + "/dangling");
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  EXPECT_EQ(FileText(archive()).find("somebody"), std::string::npos);
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_EQ(fs::read_symlink(later() + "/outside"), root_ + "/secret");
  EXPECT_EQ(fs::read_symlink(later() + "/directory"), "data");
  EXPECT_EQ(fs::read_symlink(later() + "/dangling"), "nowhere");
  EXPECT_EQ(fs::read_symlink(later() + "/inside"), "data/a");
  EXPECT_EQ(FileText(later() + "/inside"), "inside");
}

TEST_F(JobFilesTest, AreNotWrittenThroughALinkThatIsThere) {
  Write("out/result", "new");
  fs::create_directories(root_ + "/elsewhere");
  fs::create_directory_symlink(root_ + "/elsewhere", later() + "/out");
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_TRUE(fs::is_empty(root_ + "/elsewhere"));
  EXPECT_EQ(fs::symlink_status(later() + "/out").type(), fs::file_type::directory);
  EXPECT_EQ(FileText(later() + "/out/result"), "new");
}

TEST_F(JobFilesTest, KeepTheirModesAndTimes) {
  Write("dir/file", "text");
  fs::create_symlink("file", job() + "/dir/link");
  chmod((job() + "/dir/file").c_str(), 0440);
  chmod((job() + "/dir").c_str(), 0500);
  const timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1'000'000'000, .tv_nsec = 7}};
  Write("old", "");
  const timespec old[2] = {times[0], {.tv_sec = -5, .tv_nsec = 999'999'999}};
  ASSERT_EQ(utimensat(AT_FDCWD, (job() + "/old").c_str(), old, 0), 0);
  for (const char* const name : {"/dir/file", "/dir/link", "/dir"}) {
    ASSERT_EQ(utimensat(AT_FDCWD, (job() + name).c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  for (const char* const name : {"/dir/file", "/dir/link", "/dir"}) {
    struct stat before {
    }, after{};
    ASSERT_EQ(lstat((job() + name).c_str(), &before), 0);
    ASSERT_EQ(lstat((later() + name).c_str(), &after), 0) << name;
    EXPECT_EQ(after.st_mode, before.st_mode) << name;
    EXPECT_EQ(after.st_mtim.tv_sec, 1'000'000'000) << name;
    EXPECT_EQ(after.st_mtim.tv_nsec, 7) << name;
  }
  struct stat status {};
  ASSERT_EQ(stat((later() + "/old").c_str(), &status), 0);
  EXPECT_EQ(status.st_mtim.tv_sec, -5);
  EXPECT_EQ(status.st_mtim.tv_nsec, 999'999'999);
  for (const std::string& directory : {job(), later()}) chmod((directory + "/dir").c_str(), 0700);
}

TEST_F(JobFilesTest, TakeNoRoomForTheHolesOfASparseFile) {
  constexpr off_t kBytes = off_t{16} << 20;
  Write("sparse", "begin");
  fs::resize_file(job() + "/sparse", kBytes);
  std::ofstream(job() + "/sparse", std::ios::app) << "end";
  Write("hollow", "");
  fs::resize_file(job() + "/hollow", kBytes);
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_EQ(FileText(later() + "/sparse"), FileText(job() + "/sparse"));
  EXPECT_EQ(FileText(later() + "/hollow"), FileText(job() + "/hollow"));
  for (const std::string& path : {archive(), later() + "/sparse", later() + "/hollow"}) {
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_TRUE(status.st_size >= kBytes || path == archive()) << path;
    EXPECT_LT(status.st_blocks * 512, kBytes / 4) << path;
  }
}

TEST_F(JobFilesTest, HaveNamesOfAnyBytes) {
  const std::string odd = "\xff\xfe \n\"\xc3\xa4=";
  const std::string longest(255, 'n');
  Write(odd, "odd");
  Write(longest + "/" + longest, "long");
  fs::create_symlink(odd, job() + "/link" + odd);
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_EQ(FileText(later() + "/" + odd), "odd");
  EXPECT_EQ(FileText(later() + "/" + longest + "/" + longest), "long");
  EXPECT_EQ(fs::read_symlink(later() + "/link" + odd), odd);
}

TEST_F(JobFilesTest, ReplaceWhatIsThereAndDoNotWriteThroughIt) {
  Write("out", "new");
  std::ofstream(root_ + "/cached") << "old";
  fs::create_hard_link(root_ + "/cached", later() + "/out");
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_EQ(FileText(later() + "/out"), "new");
  EXPECT_EQ(FileText(root_ + "/cached"), "old");
}

// Archives of several nodes are unpacked into one directory, when fewer nodes are there.
TEST_F(JobFilesTest, ReplaceADirectoryThatAnotherNodeHadInTheirPlace) {
  Write("out", "text");
  fs::create_symlink("out", job() + "/link");
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  for (const char* const name : {"/out", "/link"}) {
    fs::create_directories(later() + name + "/deep");
    std::ofstream(later() + name + "/deep/file") << "of another node";
  }
  const absl::StatusOr<JobFilesFacts> facts = UnpackJobFiles(archive(), later());
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(FileText(later() + "/out"), "text");
  EXPECT_EQ(fs::read_symlink(later() + "/link"), "out");
}

TEST_F(JobFilesTest, AreNotUnpackedFromADamagedArchive) {
  Write("a", "some text");
  ASSERT_TRUE(Archive(Note({}), {{.pid = Pid{0}, .stream = 1, .text = "x"}}).ok());
  const std::string good = FileText(archive());
  const ScratchDirectory memory = ScratchDirectory::InMemory();  // Disks sync what is replaced.
  const std::string damaged = memory.path() + "/archive";
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    std::ofstream(damaged) << bad;
    EXPECT_FALSE(UnpackJobFiles(damaged, later()).ok()) << "byte " << at;
    std::ofstream(damaged) << good.substr(0, at);
    EXPECT_FALSE(UnpackJobFiles(damaged, later()).ok()) << at << " bytes";
  }
  EXPECT_TRUE(fs::is_empty(later()));
}

// ---- Archives that somebody else wrote ----------------------------------------------------------

struct ForeignEntry {
  std::string name;
  mode_t type;
  std::string hardlink = "";
  std::string leads_to = "/etc";  ///< A symbolic link.
};

/// Right in every byte.
void WriteForeign(const std::string& path, const std::vector<ForeignEntry>& entries) {
  const ArchivePtr written(archive_write_new());
  archive_write_set_format_pax(written.get());
  ASSERT_EQ(archive_write_open_filename(written.get(), path.c_str()), ARCHIVE_OK);
  for (const ForeignEntry& foreign : entries) {
    const EntryPtr entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), foreign.name.c_str());
    archive_entry_set_mode(entry.get(), foreign.type | 0600);
    archive_entry_set_size(entry.get(),
                           foreign.type == S_IFREG && foreign.hardlink.empty() ? 1 : 0);
    if (foreign.type == S_IFLNK) archive_entry_set_symlink(entry.get(), foreign.leads_to.c_str());
    if (!foreign.hardlink.empty())
      archive_entry_set_hardlink(entry.get(), foreign.hardlink.c_str());
    ASSERT_EQ(archive_write_header(written.get(), entry.get()), ARCHIVE_OK);
    if (foreign.type == S_IFREG) archive_write_data(written.get(), "x", 1);
  }
  ASSERT_EQ(archive_write_close(written.get()), ARCHIVE_OK);
  const std::string bytes = FileText(path);
  ArchiveHash hash;
  hash.Add(bytes.data(), bytes.size());
  const std::uint64_t sum = hash.Sum();
  std::ofstream(path, std::ios::app).write(reinterpret_cast<const char*>(&sum), sizeof sum);
}

TEST_F(JobFilesTest, LeadNowhereElseWhoeverWroteTheArchive) {
  const ForeignEntry where{.name = "directory", .type = S_IFREG};
  WriteForeign(archive(), {where, {.name = "files/a", .type = S_IFREG}});
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  fs::remove(later() + "/a");
  const std::vector<ForeignEntry> hostile = {
      {.name = "files/../outside", .type = S_IFREG},
      {.name = "files//outside", .type = S_IFREG},
      {.name = "files/", .type = S_IFREG},
      {.name = "../outside", .type = S_IFREG},
      {.name = "outside", .type = S_IFREG},
      {.name = "lines/0", .type = S_IFREG},
      {.name = "lines/x.1", .type = S_IFREG},
      {.name = "files/a", .type = S_IFCHR},
      {.name = "files/a", .type = S_IFREG, .hardlink = "/etc/passwd"}};
  for (const ForeignEntry& entry : hostile) {
    WriteForeign(archive(), {where, entry});
    EXPECT_TRUE(absl::IsDataLoss(UnpackJobFiles(archive(), later()).status())) << entry.name;
  }
  EXPECT_TRUE(fs::is_empty(later()));
  WriteForeign(archive(), {where,
                           {.name = "files/link", .type = S_IFLNK},
                           {.name = "files/link/outside", .type = S_IFREG}});
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_FALSE(Exists("/etc/outside"));
  EXPECT_EQ(FileText(later() + "/link/outside"), "x");
}

// What a link leads to is not to get the mode of a directory that it replaces.
TEST_F(JobFilesTest, LeaveAloneWhereALinkLeadsThatReplacesADirectory) {
  const std::string outside = later() + ".outside";
  ASSERT_EQ(mkdir(outside.c_str(), S_IRWXU), 0);
  WriteForeign(archive(), {{.name = "directory", .type = S_IFREG},
                           {.name = "files/d", .type = S_IFDIR},
                           {.name = "files/d", .type = S_IFLNK, .leads_to = outside}});
  ASSERT_TRUE(UnpackJobFiles(archive(), later()).ok());
  EXPECT_TRUE(fs::is_symlink(later() + "/d"));
  EXPECT_EQ(fs::status(outside).permissions(), fs::perms::owner_all);
}

TEST_F(JobFilesTest, LinkToNoFileThatLiesWhereALinkLeads) {
  WriteForeign(archive(), {{.name = "directory", .type = S_IFREG},
                           {.name = "files/d/passwd", .type = S_IFREG},
                           {.name = "files/d", .type = S_IFLNK},
                           {.name = "files/a", .type = S_IFREG, .hardlink = "files/d/passwd"}});
  EXPECT_TRUE(absl::IsDataLoss(UnpackJobFiles(archive(), later()).status()));
}

TEST_F(JobFilesTest, UnpackingIsBrokenOffInTheMiddle) {
  Write("large", std::string(3 * kLarge, 'x'));
  ASSERT_TRUE(Archive(Note({}), {}).ok());
  for (int left : {0, 2, 5}) {
    const auto facts = UnpackJobFiles(archive(), later(), [&left] { return left-- <= 0; });
    EXPECT_TRUE(absl::IsCancelled(facts.status())) << facts.status();
  }
}

}  // namespace
}  // namespace bspnow::files
