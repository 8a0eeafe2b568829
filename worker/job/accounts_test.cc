#include "worker/job/accounts.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testing/scratch_directory.h"

namespace {

constexpr char kUnknown[] = "behind-a-service-that-is-away";

}  // namespace

extern "C" int getpwnam_r(const char* name, passwd* entry, char* text, size_t bytes,
                          passwd** found) {
  *found = nullptr;
  if (std::string(name) == kUnknown) return EIO;
  return reinterpret_cast<decltype(&getpwnam_r)>(dlsym(RTLD_NEXT, "getpwnam_r"))(name, entry, text,
                                                                                 bytes, found);
}

namespace bspnow::worker {
namespace {

constexpr uid_t kRoot = 0;
constexpr JobId kJob{1};

std::string NameOf(uid_t user) {
  const passwd* const entry = getpwuid(user);
  return entry == nullptr ? "" : entry->pw_name;
}

uid_t OrdinaryUser() { return getpwnam("nobody")->pw_uid; }

TEST(AccountsTest, RootHasToChooseAnotherUser) {
  for (const char* mode : {"", "own", "own:everybody", "fixed:root", "pool:nobody,root", "fixed:",
                           "pool:nobody,nobody", "fixed:none-such", "fixed:nobody,games", "other"})
    EXPECT_EQ(Accounts::Of(mode, kRoot).status().code(), absl::StatusCode::kInvalidArgument)
        << mode;
  EXPECT_NE(Accounts::Of("", kRoot).status().message().find("fixed:NAME"), std::string::npos);
}

TEST(AccountsTest, WhoIsNotRootRunsHisOwnJobsAsHimself) {
  absl::StatusOr<Accounts> own = Accounts::Of("", OrdinaryUser());
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->text(), "own");
  EXPECT_FALSE((*own->Take(kJob, "nobody")).has_value());
  const auto refused = own->Take(kJob, "alice");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_NE(refused.status().message().find("own:everybody"), std::string::npos);
  absl::StatusOr<Accounts> everybody = Accounts::Of("own:everybody", OrdinaryUser());
  EXPECT_FALSE((*everybody->Take(kJob, "alice")).has_value());
  EXPECT_FALSE(Accounts::Of("same", OrdinaryUser()).ok());
}

TEST(AccountsTest, TheAccountOfTheSameName) {
  absl::StatusOr<Accounts> same = Accounts::Of("same", kRoot);
  ASSERT_TRUE(same.ok());
  const absl::StatusOr<std::optional<Account>> nobody = same->Take(kJob, "nobody");
  ASSERT_TRUE(nobody.ok() && nobody->has_value());
  EXPECT_EQ((*nobody)->user, OrdinaryUser());
  EXPECT_FALSE((*nobody)->groups.empty());
  EXPECT_EQ(same->Take(kJob, NameOf(kRoot)).status().code(), absl::StatusCode::kPermissionDenied);
  const absl::Status none = same->Take(kJob, "none-such").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kPermissionDenied);
  // Who reads it is elsewhere.
  EXPECT_NE(none.message().find("on the worker's machine"), std::string::npos) << none;
}

// A user without an account is refused for good, and a daemon with a wrong --accounts does not come
// back: neither is for a service that is away for a while.
TEST(AccountsTest, SaysWhetherThereIsNoneOrItCannotBeTold) {
  absl::StatusOr<Accounts> same = Accounts::Of("same", kRoot);
  EXPECT_EQ(same->Take(kJob, kUnknown).status().code(), absl::StatusCode::kUnavailable);
  for (const std::string mode : {"fixed:", "pool:nobody,"})
    EXPECT_EQ(Accounts::Of(mode + kUnknown, kRoot).status().code(), absl::StatusCode::kUnavailable);
}

TEST(AccountsTest, APoolGivesEachJobAnAccountOfItsOwn) {
  absl::StatusOr<Accounts> pool = Accounts::Of("pool:nobody,games", kRoot);
  ASSERT_TRUE(pool.ok()) << pool.status();
  const std::string first = (*pool->Take(kJob, "alice"))->name;
  EXPECT_EQ((*pool->Take(kJob, "alice"))->name, first) << "the same job";
  EXPECT_NE((*pool->Take(JobId{2}, "alice"))->name, first);
  EXPECT_EQ(pool->Take(JobId{3}, "bob").status().code(), absl::StatusCode::kResourceExhausted);
  pool->Return(kJob);
  EXPECT_EQ((*pool->Take(JobId{3}, "bob"))->name, first);
}

// Else what the first leaves there the second runs: ~/.bashrc, ~/.local/lib/python3.
TEST(AccountsTest, AnAccountOfAPoolHasNoHomeOfItsOwn) {
  std::string with_home;
  setpwent();
  for (const passwd* entry = getpwent(); entry != nullptr; entry = getpwent()) {
    struct stat home {};
    if (entry->pw_uid != 0 && stat(entry->pw_dir, &home) == 0 && home.st_uid == entry->pw_uid)
      with_home = entry->pw_name;
  }
  endpwent();
  if (with_home.empty()) GTEST_SKIP() << "nobody here has one";
  const absl::Status refused = Accounts::Of("pool:" + with_home, kRoot).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("usermod --home /nonexistent"), std::string::npos) << refused;
  EXPECT_TRUE(Accounts::Of("fixed:" + with_home, kRoot).ok());
}

TEST(AccountsTest, AnAccountOfAPoolMakesNoHomeEither) {
  constexpr uid_t kUser = 54'321;
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  ASSERT_EQ(chmod(scratch.path().c_str(), 0777), 0);
  const auto is_good = [](const std::string& home) {
    return CheckForPool(
               {.name = "somebody", .user = kUser, .group = kUser, .groups = {kUser}, .home = home})
        .ok();
  };
  EXPECT_FALSE(is_good(scratch.path()));
  EXPECT_FALSE(is_good(scratch.path() + "/none"));
  EXPECT_FALSE(is_good(scratch.path() + "/none/such/"));
  for (const char* const good : {"/dev/null", "/tmp/none/such", "/proc/none", "none", ""})
    EXPECT_TRUE(is_good(good)) << good;
}

}  // namespace
}  // namespace bspnow::worker
