// Real connections, with certificates of a real authority; and what a diagnosis says of those that
// fail.
#include "net/tls/rpc_credentials.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "net/tls/authority.h"
#include "net/tls/testing/who_service.h"
#include "net/tls/tls_diagnosis.h"
#include "net/tls/tls_directory.h"

namespace bspnow {
namespace {

constexpr std::int64_t kDay = 24 * 3600;
constexpr char kHere[] = "127.0.0.1";

bool Says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class RpcCredentialsTest : public testing::Test {
 protected:
  RpcCredentialsTest() {
    for (const char* ca : {"ca", "foreign"})
      EXPECT_TRUE(CertificateAuthority::Init(Path(ca), 30, now_).ok());
    Issue("ca", CertificateRole::kCoordinator, "head");
    Issue("ca", CertificateRole::kClient, "anna");
    Issue("foreign", CertificateRole::kClient, "eve");
  }

  std::string Path(const std::string& name) const { return scratch_.path() + "/" + name; }

  void Issue(const std::string& ca, CertificateRole role, const std::string& name,
             std::int64_t age_s = 0, std::uint32_t days = 1) {
    const bool serves = role == CertificateRole::kCoordinator || role == CertificateRole::kWorker;
    CertificateRequest request{
        .identity = {.role = role, .name = name, .user = ""}, .hosts = {}, .days = days};
    if (serves) request.hosts = {"localhost", kHere};
    const auto authority = CertificateAuthority::Open(Path(ca), now_ - age_s);
    ASSERT_TRUE(authority.ok()) << authority.status();
    const auto issued = authority->Issue(request, Path(name));
    ASSERT_TRUE(issued.ok()) << issued.status();
  }

  RpcCredentials Load(const std::string& name, TlsUse use) const {
    auto credentials = RpcCredentials::Load(Path(name), use);
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    return *std::move(credentials);
  }

  // As somebody would who does not look at the files first.
  void ShowTo(const std::string& from, const std::string& file, const std::string& to) {
    std::filesystem::copy_file(Path(from) + "/" + file, Path(to) + "/" + file,
                               std::filesystem::copy_options::overwrite_existing);
  }

  static void ExpectRefused(Asker& asker, const std::string& why) {
    const absl::Status refused = asker.Ask().status();
    EXPECT_TRUE(absl::IsUnauthenticated(refused)) << refused;
    EXPECT_TRUE(Says(std::string(refused.message()), why)) << refused;
  }

  const std::int64_t now_ = UnixMs() / 1000;
  const ScratchDirectory scratch_;
};

TEST_F(RpcCredentialsTest, BothEndsKnowEachOther) {
  const WhoServer server(Load("head", TlsUse::kCoordinate));
  const RpcCredentials anna = Load("anna", TlsUse::kCall);
  EXPECT_EQ(Ask(server.At(kHere), anna).value(), "client anna anna");
  EXPECT_EQ(Ask(server.At("localhost"), anna).value(), "client anna anna");
  EXPECT_EQ(DiagnoseTls(server.At(kHere), Path("anna")), "");
}

TEST_F(RpcCredentialsTest, ClientWithTheAuthorityAloneIsNobody) {
  const WhoServer server(Load("head", TlsUse::kCoordinate));
  std::filesystem::create_directory(Path("guest"));
  ShowTo("ca", "ca.crt", "guest");
  EXPECT_EQ(Ask(server.At(kHere), Load("guest", TlsUse::kCall)).value(), "nobody");
  EXPECT_EQ(DiagnoseTls(server.At(kHere), Path("guest")), "");
}

TEST_F(RpcCredentialsTest, PlainTextProvesNothing) {
  const WhoServer server(RpcCredentials::Plain());
  EXPECT_EQ(Ask(server.At(kHere), RpcCredentials::Plain()).value(), "nobody");
  EXPECT_EQ(DiagnoseTls(server.At(kHere), ""), "");
}

TEST_F(RpcCredentialsTest, ClientOfAnotherAuthorityTrustsNobodyHere) {
  const WhoServer server(Load("head", TlsUse::kCoordinate));
  EXPECT_FALSE(Ask(server.At(kHere), Load("eve", TlsUse::kCall)).ok());
  const std::string why = DiagnoseTls(server.At(kHere), Path("eve"));
  EXPECT_TRUE(Says(why, "was not signed by the CA in " + Path("eve") + "/ca.crt")) << why;
}

TEST_F(RpcCredentialsTest, CertificateOfAnotherAuthorityIsRefused) {
  const WhoServer server(Load("head", TlsUse::kCoordinate));
  ShowTo("ca", "ca.crt", "eve");
  EXPECT_FALSE(RpcCredentials::Load(Path("eve"), TlsUse::kCall).ok());
  const RpcCredentials anna = Load("anna", TlsUse::kCall);
  Asker asker(server.At(kHere), anna);
  EXPECT_TRUE(asker.Ask().ok());
  ShowTo("foreign", "ca.crt", "head");  // Whose certificate she has counts no more.
  ExpectRefused(asker, "is not one that the CA of this cluster has made for a client");
  ShowTo("ca", "ca.crt", "head");
  EXPECT_TRUE(asker.Ask().ok());
}

TEST_F(RpcCredentialsTest, WhoCallsIsRefusedOutsideHisCertificatesTime) {
  const std::string pem = FileText(Path("anna") + "/tls.crt");
  const auto why = [&](std::int64_t at_unix_s) {
    return std::string(CheckShown(Path("head"), pem, at_unix_s).status().message());
  };
  EXPECT_EQ(CheckShown(Path("head"), pem, now_)->identity->name, "anna");
  EXPECT_TRUE(Says(why(now_ + 2 * kDay), "expired on ")) << why(now_ + 2 * kDay);
  EXPECT_TRUE(Says(why(now_ - 2 * kDay), "is not valid before ")) << why(now_ - 2 * kDay);
}

TEST_F(RpcCredentialsTest, WhoCallsShowsACertificateOfTheAuthorityForClients) {
  const auto end = [&](const std::string& directory, const std::string& file) {
    return CheckShown(directory, FileText(Path(file)), now_).status();
  };
  for (const char* file : {"eve/tls.crt", "head/tls.crt", "foreign/ca.crt", "anna/tls.key"})
    EXPECT_TRUE(absl::IsUnauthenticated(end(Path("head"), file))) << file;
  EXPECT_TRUE(absl::IsUnavailable(end(Path("nowhere"), "anna/tls.crt")));
  // While an authority is replaced both may be there.
  std::ofstream(Path("head") + "/ca.crt", std::ios::app) << FileText(Path("foreign/ca.crt"));
  for (const char* file : {"anna/tls.crt", "eve/tls.crt"})
    EXPECT_TRUE(end(Path("head"), file).ok()) << end(Path("head"), file);
}

TEST_F(RpcCredentialsTest, ServerMustBeWhereItsCertificateSays) {
  const WhoServer server(Load("head", TlsUse::kCoordinate));
  EXPECT_FALSE(Ask(server.At("127.0.0.2"), Load("anna", TlsUse::kCall)).ok());
  const std::string why = DiagnoseTls(server.At("127.0.0.2"), Path("anna"));
  EXPECT_TRUE(Says(why, "is for localhost, 127.0.0.1, not for 127.0.0.2")) << why;
}

TEST_F(RpcCredentialsTest, WorkerIsNotTakenForTheCoordinator) {
  Issue("ca", CertificateRole::kWorker, "node");
  const WhoServer server(Load("node", TlsUse::kWork));
  EXPECT_FALSE(Ask(server.At(kHere), Load("anna", TlsUse::kCall)).ok());
  const std::string why = DiagnoseTls(server.At(kHere), Path("anna"));
  EXPECT_TRUE(Says(why, "is that of a worker, not of a coordinator")) << why;
}

TEST_F(RpcCredentialsTest, NobodyConnectsToAServerWhoseCertificateIsRevoked) {
  const WhoServer server(Load("head", TlsUse::kCoordinate));
  const RpcCredentials anna = Load("anna", TlsUse::kCall);
  EXPECT_TRUE(Ask(server.At(kHere), anna).ok());
  const auto authority = CertificateAuthority::Open(Path("ca"), now_);
  ASSERT_TRUE(authority->Revoke(CertificateRole::kCoordinator, "head").ok());
  std::filesystem::copy_file(Path("ca") + "/revoked", Path("anna") + "/revoked");
  EXPECT_FALSE(Ask(server.At(kHere), anna).ok());
  const std::string why = DiagnoseTls(server.At(kHere), Path("anna"));
  EXPECT_TRUE(Says(why, "the certificate of coordinator head was revoked")) << why;
}

TEST_F(RpcCredentialsTest, NobodyBeginsWithAnExpiredCertificate) {
  Issue("ca", CertificateRole::kCoordinator, "old", 2 * kDay);
  const absl::Status old = RpcCredentials::Load(Path("old"), TlsUse::kCoordinate).status();
  EXPECT_TRUE(Says(std::string(old.message()), "expired")) << old;
}

TEST_F(RpcCredentialsTest, PlainTextAndTlsDoNotMeet) {
  const WhoServer with(Load("head", TlsUse::kCoordinate)), without(RpcCredentials::Plain());
  EXPECT_FALSE(Ask(with.At(kHere), RpcCredentials::Plain()).ok());
  EXPECT_FALSE(Ask(without.At(kHere), Load("anna", TlsUse::kCall)).ok());
  const std::string wanted = DiagnoseTls(with.At(kHere), "");
  const std::string missing = DiagnoseTls(without.At(kHere), Path("anna"));
  EXPECT_TRUE(Says(wanted, "wants TLS; name a directory")) << wanted;
  EXPECT_TRUE(Says(missing, "does not speak TLS")) << missing;
}

TEST_F(RpcCredentialsTest, NobodyThereIsNoQuestionOfTls) {
  EXPECT_EQ(DiagnoseTls({.host = kHere, .port = 1}, Path("anna")), "");
}

TEST_F(RpcCredentialsTest, RotatedFilesAreReadWithoutARestart) {
  Issue("ca", CertificateRole::kCoordinator, "brief", kDay - 6, 1);  // For six seconds more.
  const WhoServer server(Load("brief", TlsUse::kCoordinate), 200);
  const RpcCredentials anna = Load("anna", TlsUse::kCall);
  Asker stays(server.At(kHere), anna);
  EXPECT_TRUE(stays.Ask().ok());
  Issue("ca", CertificateRole::kClient, "late", kDay - 6, 1);
  const WhoServer head(Load("head", TlsUse::kCoordinate));
  Asker late(head.At(kHere), Load("late", TlsUse::kCall));
  EXPECT_TRUE(late.Ask().ok());
  // On a connection from before, too: that is made anew.
  while (stays.Ask().ok()) std::this_thread::yield();
  // Of a caller each call shows it.
  while (late.Ask().ok()) std::this_thread::yield();
  ExpectRefused(late, "expired on ");
  const std::string why = DiagnoseTls(server.At(kHere), Path("anna"));
  EXPECT_TRUE(Says(why, "expired on ")) << why;
  ASSERT_TRUE(
      CertificateAuthority::Open(Path("ca"), UnixMs() / 1000)->Rotate(Path("brief"), 1).ok());
  const std::uint64_t begin_ns = NowNs();
  while (!Ask(server.At(kHere), anna).ok() && NowNs() - begin_ns < 30'000'000'000u) {
  }
  EXPECT_TRUE(Ask(server.At(kHere), anna).ok());
}

}  // namespace
}  // namespace bspnow
