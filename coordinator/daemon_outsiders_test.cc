// Whoever reaches the coordinator's port may call what he likes: nothing acts, or shows anything,
// without a token that permits it. All methods are tried, also those that are yet to come.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/testing/file_text.h"
#include "coordinator/access/token_file.h"
#include "coordinator/testing/daemon_fixture.h"
#include "coordinator/testing/outsider_stub.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kMethodsLeast = 20;
constexpr std::size_t kMethodsOfOwnersLeast = 9;
constexpr std::int64_t kMsPerS = 1000;

class OutsidersTest : public DaemonTest {
 protected:
  std::string Token(const std::string& name, Scopes scopes, std::int64_t until_unix_s) const {
    const auto token =
        TokenFile(scratch_.path() + "/tokens")
            .Add({.name = name, .caller = {"eve", scopes}, .until_unix_s = until_unix_s});
    EXPECT_TRUE(token.ok()) << token.status();
    return *token;
  }
  std::string TokenOfEve() const { return Token("eve", kScopesOfUser, NowS() + 1000); }
  std::string TokenFileOfEve() const {
    const std::string file = scratch_.path() + "/eve";
    std::ofstream(file) << TokenOfEve();
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    return file;
  }
  static std::int64_t NowS() { return UnixMs() / kMsPerS; }

  void ExpectAllUnauthenticated(const std::string& token) const {
    const std::map<std::string, absl::Status> ends = CallAll(address(), token);
    EXPECT_GE(ends.size(), kMethodsLeast);
    for (const auto& [method, end] : ends)
      EXPECT_TRUE(absl::IsUnauthenticated(end)) << method << ": " << end;
  }
};

TEST_F(OutsidersTest, NothingWithoutAToken) { ExpectAllUnauthenticated(""); }

TEST_F(OutsidersTest, NothingWithOneThatSomebodyMadeUp) { ExpectAllUnauthenticated("secret"); }

TEST_F(OutsidersTest, NothingWithOneThatIsOver) {
  ExpectAllUnauthenticated(Token("old", kAllScopes, NowS() - 1));
}

// A message takes many times the memory of its bytes once it is parsed.
TEST_F(OutsidersTest, NothingIsParsedOfACallOfSomebodyUnknown) {
  for (const auto& [method, end] : CallAllWithNonsense(address(), ""))
    EXPECT_TRUE(absl::IsUnauthenticated(end)) << method << ": " << end;
  const std::string token = Token("user", kScopesOfUser, NowS() + 1000);
  const absl::Status malformed = CallAllWithNonsense(address(), token).at("Jobs/ShowJob");
  EXPECT_TRUE(absl::IsInvalidArgument(malformed)) << malformed;
}

TEST_F(OutsidersTest, NobodyDoesMoreThanHisScope) {
  const std::int64_t later = NowS() + 1000;
  const auto joins = static_cast<Scopes>(Scope::kJoin);
  for (const auto& [method, end] : CallAll(address(), Token("worker", joins, later))) {
    EXPECT_EQ(method.starts_with("Jobs/"), absl::IsPermissionDenied(end)) << method << ": " << end;
  }
  for (const auto& [method, end] : CallAll(address(), Token("user", kScopesOfUser, later))) {
    const bool is_anothers =
        method.starts_with("Workers/") || method == "Jobs/DrainNode" || method == "Jobs/ForgetNode";
    EXPECT_EQ(is_anothers, absl::IsPermissionDenied(end)) << method << ": " << end;
  }
  const auto reads = static_cast<Scopes>(Scope::kRead);
  std::size_t permitted = 0;
  for (const auto& [method, end] : CallAll(address(), Token("reader", reads, later)))
    permitted += absl::IsPermissionDenied(end) ? 0 : 1;
  EXPECT_EQ(permitted, 6u) << "ListJobs, ShowJob, WaitJob, ListNodes, ShowParameters, OpenPage";
}

TEST_F(OutsidersTest, WhoKnowsTheHashOfAProgramDoesNotHaveIt) {
  ASSERT_TRUE(client_.Upload(kSha256, kProgram).ok());
  TestClient eve(address(), {.login_socket = "", .token_file = TokenFileOfEve()});
  EXPECT_EQ(eve.FindMissing(kSha256)->sha256_size(), 1);
  const absl::Status refused = eve.Submit(Spec(), "hers").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  ASSERT_TRUE(eve.Upload(kSha256, kProgram).ok());
  EXPECT_EQ(eve.FindMissing(kSha256)->sha256_size(), 0);
  EXPECT_TRUE(eve.Submit(Spec(), "hers").ok());
}

TEST_F(OutsidersTest, WhatAJobLeavesIsItsOwners) {
  ASSERT_TRUE(client_.Upload(kSha256, kProgram).ok());
  const JobId job = Submit(Spec());
  TestClient eve(address(), {.login_socket = "", .token_file = TokenFileOfEve()});
  for (const absl::Status& refused :
       {eve.ReadProfile(job).status(), eve.Fetch(job, "out/result").status()}) {
    EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
    EXPECT_NE(refused.message().find("is of user"), std::string::npos) << refused;
  }
  // The owner may read it, and learns why there is none yet.
  EXPECT_TRUE(absl::IsFailedPrecondition(client_.ReadProfile(job).status()));
}

// A method that is yet to come is refused, too, or named here.
TEST_F(OutsidersTest, NobodyElseDoesAnythingToAJob) {
  // The first two show anybody that there is a job; of a content that is uploaded no job is asked.
  const std::set<std::string> anybodys = {"ShowJob", "WaitJob", "UploadBlob"};
  const JobId job = Submit(Spec());
  const std::string token = TokenOfEve();
  const auto expect_refused = [&](const std::string& state) {
    std::size_t refused = 0;
    for (const std::string& method : MethodsOfJobs()) {
      if (anybodys.contains(method)) continue;
      const absl::Status end = CallOf(address(), token, method, job);
      EXPECT_TRUE(absl::IsPermissionDenied(end)) << state << ", " << method << ": " << end;
      EXPECT_NE(end.message().find("is of user"), std::string::npos) << method << ": " << end;
      ++refused;
    }
    EXPECT_GE(refused, kMethodsOfOwnersLeast);
  };
  expect_refused("waiting");
  EXPECT_EQ(client_.Show(job)->state(), proto::WAITING);
  EXPECT_TRUE(client_.Cancel(job).ok());
  expect_refused("ended");
}

TEST_F(OutsidersTest, NobodySubmitsAJobOfAnotherUser) {
  TestClient eve(address(), {.login_socket = "", .token_file = TokenFileOfEve()});
  ASSERT_TRUE(eve.Upload(kSha256, kProgram).ok());
  proto::JobSpec spec = Spec();
  spec.set_user("anna");
  const absl::Status refused = eve.Submit(spec, "annas").status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_NE(refused.message().find("may not submit a job of user anna"), std::string::npos);
  const auto hers = eve.Submit(Spec(), "hers");
  ASSERT_TRUE(hers.ok()) << hers.status();
  EXPECT_EQ(client_.Show(*hers)->spec().user(), "eve");
  EXPECT_TRUE(eve.Cancel(*hers).ok());
}

TEST_F(OutsidersTest, WhatAKnownUserWasRefusedIsWrittenDown) {
  TestClient eve(address(), {.login_socket = "", .token_file = TokenFileOfEve()});
  EXPECT_TRUE(absl::IsPermissionDenied(eve.Drain("w7").status()));
  daemon_.End(SIGTERM);
  const std::string log = FileText(scratch_.path() + "/refused.log");
  EXPECT_NE(log.find("call=DrainNode what=\"node w7\""), std::string::npos) << log;
}

TEST_F(OutsidersTest, WhoWasRefusedIsWrittenDown) {
  const std::size_t refused = CallAll(address(), "").size();
  daemon_.End(SIGTERM);
  std::ifstream file(scratch_.path() + "/refused.log");
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) {
    lines += line.find("outcome=unauthenticated") != std::string::npos ? 1 : 0;
    EXPECT_EQ(line.find("what="), std::string::npos) << "words of nobody: " << line;
  }
  EXPECT_EQ(lines, refused);
}

}  // namespace
}  // namespace bspnow::coordinator
