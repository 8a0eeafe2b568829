#include "net/tls/server_context.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"
#include "net/tls/authority.h"
#include "net/tls/tls_directory.h"

namespace bspnow {
namespace {

constexpr std::uint32_t kDays = 30;

/// Of what a client would be shown now.
std::string SerialShown(ServerContext& context) {
  const UniqueFd fd(open("/dev/null", O_RDWR | O_CLOEXEC));
  const SslPtr ssl = context.Begin(fd.get());
  const ASN1_INTEGER* const number = X509_get0_serialNumber(SSL_get_certificate(ssl.get()));
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(number)),
          static_cast<std::size_t>(ASN1_STRING_length(number))};
}

TEST(ServerContextTest, ACertificateThatIsReplacedInTheSameMomentIsShown) {
  const ScratchDirectory scratch;
  const std::string ca = scratch.path() + "/ca", own = scratch.path() + "/own";
  const std::int64_t now_unix_s = UnixMs() / 1000;
  ASSERT_TRUE(CertificateAuthority::Init(ca, kDays, now_unix_s).ok());
  const auto authority = CertificateAuthority::Open(ca, now_unix_s);
  ASSERT_TRUE(authority.ok()) << authority.status();
  const CertificateRequest request{
      .identity = {.role = CertificateRole::kCoordinator, .name = "c", .user = ""},
      .hosts = {"localhost"},
      .days = kDays};
  ASSERT_TRUE(authority->Issue(request, own).ok());
  const auto context = ServerContext::Load(own);
  ASSERT_TRUE(context.ok()) << context.status();
  const std::string first = SerialShown(**context);
  EXPECT_EQ(SerialShown(**context), first);

  const std::string path = own + "/" + kCertificateFile;
  struct stat before {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  ASSERT_TRUE(authority->Rotate(own, kDays).ok());
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_NE(SerialShown(**context), first);
}

}  // namespace
}  // namespace bspnow
