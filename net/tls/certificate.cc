#include "net/tls/certificate.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <time.h>

#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr std::pair<CertificateRole, std::string_view> kRoles[] = {
    {CertificateRole::kCoordinator, "coordinator"},
    {CertificateRole::kWorker, "worker"},
    {CertificateRole::kClient, "client"},
    {CertificateRole::kAdmin, "admin"},
};

absl::StatusOr<std::string> ReadText(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file) return absl::ErrnoToStatus(errno, path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

BioPtr Over(std::string_view text) {
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  BSP_CHECK(bio != nullptr);
  return bio;
}

// Empty unless there is exactly one such attribute: of two, each reader might believe another.
std::string AttributeOf(const X509_NAME& subject, int nid) {
  const int at = X509_NAME_get_index_by_NID(&subject, nid, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(&subject, nid, at) >= 0) return "";
  unsigned char* utf8 = nullptr;
  const int bytes =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(&subject, at)));
  if (bytes < 0) return "";
  std::string value(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(bytes));
  OPENSSL_free(utf8);
  return value;
}

std::optional<CertificateIdentity> IdentityIn(const X509_NAME& subject) {
  const std::string unit = AttributeOf(subject, NID_organizationalUnitName);
  std::string_view role_name = unit;
  if (!role_name.starts_with(kUnitPrefix)) return std::nullopt;
  role_name.remove_prefix(sizeof(kUnitPrefix) - 1);
  const std::optional<CertificateRole> role = ParseRole(role_name);
  std::string name = AttributeOf(subject, NID_commonName);
  if (!role || name.empty()) return std::nullopt;
  return CertificateIdentity{
      .role = *role, .name = std::move(name), .user = AttributeOf(subject, NID_userId)};
}

std::string_view BytesOf(const ASN1_STRING& string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&string)),
          static_cast<std::size_t>(ASN1_STRING_length(&string))};
}

std::vector<std::string> HostsOf(const X509& certificate) {
  std::vector<std::string> hosts;
  const GeneralNamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) hosts.emplace_back(BytesOf(*name->d.dNSName));
    if (name->type != GEN_IPADD) continue;
    const std::string_view address = BytesOf(*name->d.iPAddress);
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = address.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
    if (inet_ntop(family, address.data(), text.data(), text.size()) != nullptr)
      hosts.emplace_back(text.data());
  }
  return hosts;
}

std::int64_t UnixSecondsOf(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return timegm(&parts);
}

}  // namespace

std::string RoleName(CertificateRole role) {
  for (const auto& [known, name] : kRoles)
    if (known == role) return std::string(name);
  BSP_CHECK(false);
}

std::optional<CertificateRole> ParseRole(std::string_view name) {
  for (const auto& [role, known] : kRoles)
    if (known == name) return role;
  return std::nullopt;
}

CertificateFacts FactsOf(const X509& certificate) {
  return {.identity = IdentityIn(*X509_get_subject_name(&certificate)),
          .hosts = HostsOf(certificate),
          .begins_unix_s = UnixSecondsOf(X509_get0_notBefore(&certificate)),
          .ends_unix_s = UnixSecondsOf(X509_get0_notAfter(&certificate))};
}

absl::Status CheckRole(const CertificateFacts& facts, CertificateRole role) {
  if (facts.identity && facts.identity->role == role) return absl::OkStatus();
  const std::string has = facts.identity ? RoleName(facts.identity->role) : "unknown role";
  return absl::UnauthenticatedError(
      absl::StrCat("is that of a ", has, ", not of a ", RoleName(role)));
}

std::string HostsText(const CertificateFacts& facts) {
  return facts.hosts.empty() ? "no host" : absl::StrJoin(facts.hosts, ", ");
}

absl::StatusOr<CertificatePtr> ReadCertificate(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return text.status();
  CertificatePtr certificate = ParseCertificate(*text);
  if (certificate != nullptr) return certificate;
  return absl::InvalidArgumentError(absl::StrCat(path, " has no certificate in PEM"));
}

absl::StatusOr<KeyPtr> ReadKey(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return text.status();
  // A key with a passphrase would have OpenSSL ask for it on the terminal.
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  KeyPtr key(PEM_read_bio_PrivateKey(Over(*text).get(), nullptr, no_passphrase, nullptr));
  if (key != nullptr) return key;
  TakeOpensslErrors();
  return absl::InvalidArgumentError(
      absl::StrCat(path, " has no private key in PEM, or one with a passphrase"));
}

CertificatePtr ParseCertificate(std::string_view pem) {
  CertificatePtr certificate(PEM_read_bio_X509(Over(pem).get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) TakeOpensslErrors();
  return certificate;
}

std::string TimeText(std::int64_t unix_s) {
  const time_t seconds = unix_s;
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

std::string TakeOpensslErrors() {
  const unsigned long error = ERR_get_error();
  const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  ERR_clear_error();
  return reason == nullptr ? "unknown reason" : reason;
}

}  // namespace bspnow
