#include "net/tls/authority.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <tuple>

#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "net/tls/tls_directory.h"

namespace bspnow {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kDay = 24 * 3600;
constexpr std::uint32_t kYears = 3650;

bool Says(const absl::Status& status, const std::string& text) {
  return std::string(status.message()).find(text) != std::string::npos;
}

mode_t ModeOf(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class CertificateAuthorityTest : public testing::Test {
 protected:
  CertificateAuthorityTest() { EXPECT_TRUE(CertificateAuthority::Init(ca_, kYears, kNow).ok()); }

  CertificateAuthority Open(std::int64_t now_unix_s = kNow) const {
    absl::StatusOr<CertificateAuthority> authority = CertificateAuthority::Open(ca_, now_unix_s);
    EXPECT_TRUE(authority.ok()) << authority.status();
    return *std::move(authority);
  }

  static CertificateRequest Worker() {
    return {.identity = {.role = CertificateRole::kWorker, .name = "w1", .user = ""},
            .hosts = {"node1", "192.168.1.11", "fd00::11"},
            .days = 30};
  }

  const ScratchDirectory scratch_;
  const std::string ca_ = scratch_.path() + "/ca";
  const std::string out_ = scratch_.path() + "/w1";
};

TEST_F(CertificateAuthorityTest, KeysAreReadByTheirOwnerAlone) {
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  EXPECT_EQ(ModeOf(ca_), 0700u);
  EXPECT_EQ(ModeOf(ca_ + "/ca.key"), 0600u);
  EXPECT_EQ(ModeOf(out_), 0700u);
  EXPECT_EQ(ModeOf(out_ + "/tls.key"), 0600u);
  EXPECT_EQ(ModeOf(out_ + "/tls.crt"), 0644u);
  EXPECT_EQ(FileText(out_ + "/ca.crt"), FileText(ca_ + "/ca.crt"));
}

TEST_F(CertificateAuthorityTest, CertificateSaysWhoseItIsAndWhere) {
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  const auto certificate = ReadCertificate(out_ + "/tls.crt");
  ASSERT_TRUE(certificate.ok()) << certificate.status();
  const CertificateFacts facts = FactsOf(**certificate);
  EXPECT_EQ(facts.identity, Worker().identity);
  EXPECT_EQ(facts.hosts, Worker().hosts);
  EXPECT_EQ(facts.ends_unix_s, kNow + 30 * kDay);
  EXPECT_LT(facts.begins_unix_s, kNow);
}

TEST_F(CertificateAuthorityTest, CertificateServesItsHostsAndNoOther) {
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  for (const std::string& host : Worker().hosts) EXPECT_TRUE(CheckServedHost(out_, host).ok());
  const absl::Status other = CheckServedHost(out_, "192.168.1.12");
  EXPECT_TRUE(Says(other, "is for node1, 192.168.1.11, fd00::11, not for 192.168.1.12"));
  EXPECT_TRUE(Says(other, "--host 192.168.1.12"));
  EXPECT_FALSE(CheckServedHost(out_, "node2").ok());
  EXPECT_TRUE(CheckServedHost("", "node2").ok());
}

TEST_F(CertificateAuthorityTest, ClientComesInItsOwnNameUnlessToldAnother) {
  const auto user_of = [this](const std::string& user, const std::string& out) {
    const auto facts =
        Open().Issue({.identity = {.role = CertificateRole::kClient, .name = "anna", .user = user},
                      .hosts = {},
                      .days = 1},
                     scratch_.path() + out);
    return facts->identity->user;
  };
  EXPECT_EQ(user_of("", "/a"), "anna");
  EXPECT_EQ(user_of("bob", "/b"), "bob");
}

TEST_F(CertificateAuthorityTest, FilesServeTheirUseAndNoOther) {
  const CertificateRequest client{
      .identity = {.role = CertificateRole::kClient, .name = "anna", .user = ""},
      .hosts = {},
      .days = 1};
  const CertificateRequest coordinator{
      .identity = {.role = CertificateRole::kCoordinator, .name = "head", .user = ""},
      .hosts = {"head"},
      .days = 1};
  const std::string a = scratch_.path() + "/a", c = scratch_.path() + "/c";
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  ASSERT_TRUE(Open().Issue(client, a).ok());
  ASSERT_TRUE(Open().Issue(coordinator, c).ok());
  EXPECT_TRUE(CheckTlsDirectory(out_, TlsUse::kWork, kNow).ok());
  EXPECT_TRUE(CheckTlsDirectory(out_, TlsUse::kCall, kNow).ok());
  EXPECT_TRUE(CheckTlsDirectory(a, TlsUse::kCall, kNow).ok());
  EXPECT_TRUE(CheckTlsDirectory(c, TlsUse::kCoordinate, kNow).ok());
  for (const auto& [directory, use, why] :
       {std::tuple{a, TlsUse::kCoordinate, "is that of a client, not of a coordinator"},
        std::tuple{a, TlsUse::kWork, "is that of a client, not of a worker"},
        std::tuple{out_, TlsUse::kCoordinate, "is that of a worker, not of a coordinator"},
        std::tuple{c, TlsUse::kWork, "is that of a coordinator, not of a worker"}}) {
    const absl::Status refused = CheckTlsDirectory(directory, use, kNow).status();
    EXPECT_TRUE(Says(refused, why)) << refused;
    EXPECT_TRUE(Says(refused, "bsp certs issue CA --role")) << refused;
  }
  EXPECT_FALSE(CheckTlsDirectory(c, TlsUse::kCall, kNow).ok());
}

TEST_F(CertificateAuthorityTest, FilesThatCannotBeUsedAreNamedWithTheFix) {
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  const auto complaint = [this](std::int64_t now) {
    return CheckTlsDirectory(out_, TlsUse::kWork, now).status();
  };
  EXPECT_TRUE(Says(complaint(kNow + 31 * kDay), "expired on 2027-")) << complaint(kNow + 31 * kDay);
  EXPECT_TRUE(Says(complaint(kNow + 31 * kDay), "bsp certs rotate " + out_));
  EXPECT_TRUE(Says(complaint(kNow - kDay), "clock"));
  std::filesystem::permissions(out_ + "/tls.key", std::filesystem::perms(0644));
  EXPECT_TRUE(Says(complaint(kNow), "chmod 600 " + out_ + "/tls.key"));
  std::filesystem::permissions(out_ + "/tls.key", std::filesystem::perms(0600));
  std::filesystem::copy_file(ca_ + "/ca.key", out_ + "/tls.key",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(Says(complaint(kNow), "does not belong to tls.crt")) << complaint(kNow);
  std::filesystem::remove(out_ + "/tls.key");
  EXPECT_TRUE(Says(complaint(kNow), out_ + "/tls.key")) << complaint(kNow);
  EXPECT_TRUE(Says(CheckTlsDirectory("/nowhere", TlsUse::kCall, kNow).status(), "/nowhere/ca.crt"));
  EXPECT_TRUE(Says(CheckTlsDirectory("/nowhere", TlsUse::kCall, kNow).status(), "bsp certs issue"));
  EXPECT_TRUE(Says(Open().Rotate("/nowhere", 0).status(), "bsp certs issue"));
}

TEST_F(CertificateAuthorityTest, CertificateOfAnotherAuthorityDoesNotGoWithThisOne) {
  const std::string other = scratch_.path() + "/other";
  ASSERT_TRUE(CertificateAuthority::Init(other, kYears, kNow).ok());
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  std::filesystem::copy_file(other + "/ca.crt", out_ + "/ca.crt",
                             std::filesystem::copy_options::overwrite_existing);
  const absl::Status wrong = CheckTlsDirectory(out_, TlsUse::kWork, kNow).status();
  EXPECT_TRUE(Says(wrong, "does not go with ca.crt")) << wrong;
}

TEST_F(CertificateAuthorityTest, NothingIsOverwritten) {
  const std::string key = FileText(ca_ + "/ca.key");
  const absl::Status again = CertificateAuthority::Init(ca_, kYears, kNow).status();
  EXPECT_TRUE(Says(again, ca_ + "/ca.crt is there already")) << again;
  EXPECT_EQ(FileText(ca_ + "/ca.key"), key);
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  const absl::Status twice = Open().Issue(Worker(), out_).status();
  EXPECT_TRUE(Says(twice, "bsp certs rotate")) << twice;
  EXPECT_TRUE(Says(Open().Issue(Worker(), ca_).status(), "must not travel"));
}

TEST_F(CertificateAuthorityTest, WrongRequestsAreRefused) {
  const auto refused = [this](CertificateRequest request) {
    return std::string(Open().Issue(request, out_).status().message());
  };
  CertificateRequest nowhere = Worker(), everywhere = Worker(), nameless = Worker();
  CertificateRequest misspelt = Worker();
  misspelt.hosts = {"10.0.0.300"};
  EXPECT_NE(refused(misspelt).find("neither a name nor an address"), std::string::npos);
  nowhere.hosts.clear();
  everywhere.hosts = {"node1:7070"};
  nameless.identity.name = "a/b";
  EXPECT_NE(refused(nowhere).find("needs --host"), std::string::npos);
  EXPECT_NE(refused(everywhere).find("without a port"), std::string::npos);
  EXPECT_NE(refused(nameless).find("a/b"), std::string::npos);
  CertificateRequest client = Worker();
  client.identity.role = CertificateRole::kClient;
  EXPECT_NE(refused(client).find("nobody connects"), std::string::npos);
  EXPECT_FALSE(FileExists(out_ + "/tls.crt"));
}

TEST_F(CertificateAuthorityTest, DirectoryThatOthersReadTakesNoKey) {
  std::filesystem::create_directory(out_);
  std::filesystem::permissions(out_, std::filesystem::perms(0755));
  EXPECT_TRUE(Says(Open().Issue(Worker(), out_).status(), "chmod 700 " + out_));
}

TEST_F(CertificateAuthorityTest, RotationKeepsAllButKeyAndTime) {
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  std::filesystem::permissions(out_ + "/tls.key", std::filesystem::perms(0640));
  const std::string key = FileText(out_ + "/tls.key"), certificate = FileText(out_ + "/tls.crt");
  const auto facts = Open(kNow + 29 * kDay).Rotate(out_, 0);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->identity, Worker().identity);
  EXPECT_EQ(facts->hosts, Worker().hosts);
  EXPECT_EQ(facts->ends_unix_s, kNow + (29 + 30) * kDay);
  EXPECT_NE(FileText(out_ + "/tls.key"), key);
  EXPECT_NE(FileText(out_ + "/tls.crt"), certificate);
  EXPECT_EQ(ModeOf(out_ + "/tls.key"), 0640u);
  EXPECT_TRUE(CheckTlsDirectory(out_, TlsUse::kWork, kNow + 31 * kDay).ok());
  const auto files = std::filesystem::directory_iterator(out_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 3);
  EXPECT_EQ(Open().Rotate(out_, 7)->ends_unix_s, kNow + 7 * kDay);
}

TEST_F(CertificateAuthorityTest, WhatWasIssuedUntilARevocationCountsNoMore) {
  ASSERT_TRUE(Open().Issue(Worker(), out_).ok());
  ASSERT_TRUE(Open().Revoke(CertificateRole::kWorker, "other").ok());
  std::filesystem::copy_file(ca_ + "/revoked", out_ + "/revoked");
  EXPECT_TRUE(CheckTlsDirectory(out_, TlsUse::kWork, kNow).ok());
  ASSERT_TRUE(Open().Revoke(CertificateRole::kWorker, Worker().identity.name).ok());
  std::filesystem::copy_file(ca_ + "/revoked", out_ + "/revoked",
                             std::filesystem::copy_options::overwrite_existing);
  const absl::Status revoked = CheckTlsDirectory(out_, TlsUse::kWork, kNow).status();
  EXPECT_TRUE(Says(revoked, "was revoked")) << revoked;
  for (int i = 0; i < 2; ++i) {  // The clock stands still; the next one counts again.
    ASSERT_TRUE(Open().Rotate(out_, 0).ok());
    EXPECT_TRUE(CheckTlsDirectory(out_, TlsUse::kWork, kNow).ok());
    ASSERT_TRUE(Open().Revoke(CertificateRole::kWorker, Worker().identity.name).ok());
    std::filesystem::copy_file(ca_ + "/revoked", out_ + "/revoked",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_FALSE(CheckTlsDirectory(out_, TlsUse::kWork, kNow).ok());
  }
  EXPECT_EQ(FileText(out_ + "/revoked"), FileText(ca_ + "/revoked"));
  EXPECT_FALSE(Open().Revoke(CertificateRole::kWorker, "a b").ok());
}

// Whoever can write there would else have himself made an administrator.
TEST_F(CertificateAuthorityTest, RotationSignsNothingThatItsAuthorityHasNotSigned) {
  const std::string other = scratch_.path() + "/other";
  ASSERT_TRUE(CertificateAuthority::Init(other, kYears, kNow).ok());
  const CertificateRequest admin{
      .identity = {.role = CertificateRole::kAdmin, .name = "root", .user = ""},
      .hosts = {},
      .days = 1};
  ASSERT_TRUE(CertificateAuthority::Open(other, kNow)->Issue(admin, out_).ok());
  const absl::Status refused = Open().Rotate(out_, 0).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_TRUE(Says(refused, "--ca"));
}

TEST_F(CertificateAuthorityTest, NoCertificateOutlivesItsAuthority) {
  CertificateRequest request = Worker();
  request.days = kYears + 1;
  EXPECT_EQ(Open().Issue(request, out_)->ends_unix_s, kNow + kYears * kDay);
  const absl::Status ended = CertificateAuthority::Open(ca_, kNow + kYears * kDay).status();
  EXPECT_TRUE(Says(ended, "bsp certs init")) << ended;
  EXPECT_TRUE(Says(CertificateAuthority::Open(out_, kNow).status(), out_ + "/ca.key"));
}

}  // namespace
}  // namespace bspnow
