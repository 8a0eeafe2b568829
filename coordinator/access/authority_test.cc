#include "coordinator/access/authority.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/units.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kMinuteNs = 60 * kNsPerS;
constexpr std::int64_t kFarUnixS = 4'000'000'000;

class AuthorityTest : public testing::Test {
 protected:
  static Caller Alice() { return {.user = "alice", .scopes = kScopesOfUser}; }

  std::string Bearer(const Caller& caller, std::uint64_t for_ns = kMinuteNs) const {
    return "Bearer " + tokens_.Make(caller, NowNs() + for_ns);
  }
  absl::StatusCode CodeOf(const std::string& authorization, Scope scope) {
    return authority_.Permit(authorization, certificate_, scope).status().code();
  }

  void Show(const CertificateIdentity& identity) {
    certificate_ = {
        .identity = identity, .hosts = {}, .begins_unix_s = 1000, .ends_unix_s = kFarUnixS};
  }

  std::optional<CertificateFacts> certificate_;
  const ScratchDirectory scratch_;
  const TokenFile token_file_{scratch_.path() + "/tokens"};
  LoginTokens tokens_;
  Authority authority_{tokens_, token_file_, scratch_.path()};
};

TEST_F(AuthorityTest, KnowsWhoWasGivenAToken) {
  const auto caller = authority_.Permit(Bearer(Alice()), certificate_, Scope::kSubmit);
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->user, "alice");
  EXPECT_EQ(caller->scopes, kScopesOfUser);
}

TEST_F(AuthorityTest, RefusesWhoHasNone) {
  for (const char* nothing : {"", "Bearer", "Bearer ", "Basic YWxpY2U6", "Bearer login.",
                              "Bearer login.15.99999999999999999999.616c.00", "Bearer x"})
    EXPECT_EQ(CodeOf(nothing, Scope::kRead), absl::StatusCode::kUnauthenticated) << nothing;
}

TEST_F(AuthorityTest, RefusesATokenThatIsOver) {
  EXPECT_EQ(CodeOf(Bearer(Alice(), 0), Scope::kRead), absl::StatusCode::kUnauthenticated);
}

TEST_F(AuthorityTest, RefusesATokenOfAnotherRun) {
  const LoginTokens others;
  EXPECT_EQ(CodeOf("Bearer " + others.Make(Alice(), NowNs() + kMinuteNs), Scope::kRead),
            absl::StatusCode::kUnauthenticated);
}

TEST_F(AuthorityTest, RefusesATokenOfWhichAnyByteWasChanged) {
  const std::string good = Bearer(Alice());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_EQ(CodeOf(changed, Scope::kRead), absl::StatusCode::kUnauthenticated) << changed;
  }
  EXPECT_EQ(CodeOf(good.substr(0, good.size() - 1), Scope::kRead),
            absl::StatusCode::kUnauthenticated);
}

TEST_F(AuthorityTest, AUserIsNoAdministratorAndNoWorker) {
  EXPECT_EQ(CodeOf(Bearer(Alice()), Scope::kAdmin), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(CodeOf(Bearer(Alice()), Scope::kJoin), absl::StatusCode::kPermissionDenied);
  const Caller reader{.user = "bob", .scopes = static_cast<Scopes>(Scope::kRead)};
  EXPECT_EQ(CodeOf(Bearer(reader), Scope::kSubmit), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(CodeOf(Bearer(reader), Scope::kRead), absl::StatusCode::kOk);
  const Caller admin{.user = "root", .scopes = kAllScopes};
  EXPECT_EQ(CodeOf(Bearer(admin), Scope::kJoin), absl::StatusCode::kOk);
}

TEST_F(AuthorityTest, TakesTokensThatWereMadeForOtherMachines) {
  const auto token =
      token_file_.Add({.name = "w1",
                       .caller = {.user = "w1", .scopes = static_cast<Scopes>(Scope::kJoin)},
                       .until_unix_s = kFarUnixS});
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(CodeOf("Bearer " + *token, Scope::kJoin), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf("Bearer " + *token, Scope::kSubmit), absl::StatusCode::kPermissionDenied);
}

TEST_F(AuthorityTest, ACertificateSaysWhoCallsIfNoTokenDoes) {
  Show({.role = CertificateRole::kClient, .name = "laptop", .user = "bob"});
  const auto caller = authority_.Permit("", certificate_, Scope::kSubmit);
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->user, "bob");
  EXPECT_EQ(CodeOf("", Scope::kJoin), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(CodeOf("Bearer wrong", Scope::kRead), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(authority_.Permit(Bearer(Alice()), certificate_, Scope::kRead)->user, "alice");
}

TEST_F(AuthorityTest, EachRoleOfACertificateMayDoItsOwn) {
  Show({.role = CertificateRole::kWorker, .name = "w1", .user = ""});
  EXPECT_EQ(CodeOf("", Scope::kJoin), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf("", Scope::kSubmit), absl::StatusCode::kPermissionDenied);
  Show({.role = CertificateRole::kCoordinator, .name = "head", .user = ""});
  for (const Scope scope : {Scope::kRead, Scope::kSubmit, Scope::kAdmin, Scope::kJoin})
    EXPECT_EQ(CodeOf("", scope), absl::StatusCode::kPermissionDenied);
  Show({.role = CertificateRole::kAdmin, .name = "eve", .user = "eve"});
  EXPECT_EQ(CodeOf("", Scope::kAdmin), absl::StatusCode::kOk);
}

TEST_F(AuthorityTest, RevokedCertificateIsWorthNothing) {
  Show({.role = CertificateRole::kAdmin, .name = "laptop", .user = "bob"});
  EXPECT_EQ(CodeOf("", Scope::kAdmin), absl::StatusCode::kOk);
  std::ofstream(scratch_.path() + "/revoked") << "admin laptop 1000\n";
  EXPECT_EQ(CodeOf("", Scope::kAdmin), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(CodeOf(Bearer(Alice()), Scope::kRead), absl::StatusCode::kUnauthenticated);
}

TEST_F(AuthorityTest, RemembersAUserOfThisMachineBeyondHisToken) {
  const std::string bearer = Bearer(Alice());
  const CallerNow remembered = authority_.Remember(bearer, certificate_);
  const CallerNow nobody = authority_.Remember(Bearer(Alice(), 0), certificate_);
  EXPECT_EQ(remembered()->user, "alice");
  EXPECT_FALSE(nobody());
}

TEST_F(AuthorityTest, RemembersNobodyWhoseTokenIsTakenOut) {
  const auto token =
      token_file_.Add({.name = "laptop", .caller = Alice(), .until_unix_s = kFarUnixS});
  ASSERT_TRUE(token.ok()) << token.status();
  const CallerNow remembered = authority_.Remember("Bearer " + *token, certificate_);
  EXPECT_EQ(remembered()->scopes, kScopesOfUser);
  std::filesystem::remove(scratch_.path() + "/tokens");
  EXPECT_FALSE(remembered());
}

TEST_F(AuthorityTest, RemembersNobodyWhoseCertificateHasEnded) {
  Show({.role = CertificateRole::kClient, .name = "laptop", .user = "bob"});
  EXPECT_TRUE(authority_.Remember("", certificate_)());
  certificate_->ends_unix_s = 2000;
  EXPECT_FALSE(authority_.Remember("", certificate_)());
  EXPECT_TRUE(authority_.Remember(Bearer(Alice()), certificate_)());
}

TEST_F(AuthorityTest, RemembersNobodyWhoseCertificateIsRevoked) {
  Show({.role = CertificateRole::kClient, .name = "laptop", .user = "bob"});
  const CallerNow by_certificate = authority_.Remember("", certificate_);
  const CallerNow by_login = authority_.Remember(Bearer(Alice()), certificate_);
  EXPECT_EQ(by_certificate()->user, "bob");
  EXPECT_EQ(by_login()->user, "alice");
  std::ofstream(scratch_.path() + "/revoked") << "client laptop 1000\n";
  EXPECT_FALSE(by_certificate());
  EXPECT_FALSE(by_login());
}

}  // namespace
}  // namespace bspnow::coordinator
