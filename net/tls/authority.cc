#include "net/tls/authority.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/node_name.h"
#include "net/tls/revocations.h"
#include "net/tls/tls_directory.h"

namespace bspnow {
namespace {

constexpr std::int64_t kSecondsOfDay = 24 * 3600;
constexpr std::int64_t kClockSkewS = 300;  // Of the machine that uses it first.

struct Validity {
  std::int64_t begins_unix_s;
  std::int64_t ends_unix_s;
};

bool Serves(CertificateRole role) {
  return role == CertificateRole::kCoordinator || role == CertificateRole::kWorker;
}

const char* UsageOf(CertificateRole role) {
  switch (role) {
    case CertificateRole::kCoordinator:
      return "serverAuth";
    case CertificateRole::kWorker:
      return "serverAuth,clientAuth";  // It serves its images to other workers.
    case CertificateRole::kClient:
    case CertificateRole::kAdmin:
      return "clientAuth";
  }
  BSP_CHECK(false);
}

// ---- Making -------------------------------------------------------------------------------------

KeyPtr MakeKey() {
  KeyPtr key(EVP_EC_gen("P-256"));
  BSP_CHECK(key != nullptr);
  return key;
}

std::string RandomBytes(std::size_t bytes) {
  std::string random(bytes, '\0');
  BSP_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(random.data()), static_cast<int>(bytes)) ==
            1);
  return random;
}

void AddAttribute(X509_NAME& subject, int nid, const std::string& value) {
  BSP_CHECK(X509_NAME_add_entry_by_NID(&subject, nid, MBSTRING_UTF8,
                                       reinterpret_cast<const unsigned char*>(value.data()),
                                       static_cast<int>(value.size()), -1, 0) == 1);
}

// With what all have; the subject is empty, and nobody has signed it.
CertificatePtr MakeCertificate(EVP_PKEY& key, const Validity& validity) {
  constexpr long kVersion3 = 2;
  constexpr std::size_t kSerialBytes = 16;
  CertificatePtr certificate(X509_new());
  BSP_CHECK(X509_set_version(certificate.get(), kVersion3) == 1);
  std::string serial = RandomBytes(kSerialBytes);
  serial[0] = static_cast<char>((serial[0] & 0x3f) | 0x40);  // Positive, and of full length.
  const std::unique_ptr<BIGNUM, FreedBy<&BN_free>> number(
      BN_bin2bn(reinterpret_cast<const unsigned char*>(serial.data()), kSerialBytes, nullptr));
  BSP_CHECK(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate.get())) != nullptr);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), validity.begins_unix_s);
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), validity.ends_unix_s);
  BSP_CHECK(X509_set_pubkey(certificate.get(), &key) == 1);
  return certificate;
}

struct Extension {
  int nid;
  const char* value;
};

void AddExtension(X509& certificate, X509& issuer, const Extension& extension) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionPtr made(X509V3_EXT_conf_nid(nullptr, &context, extension.nid, extension.value));
  BSP_CHECK(made != nullptr && X509_add_ext(&certificate, made.get(), -1) == 1);
}

// Null if it is neither an address nor a name.
GENERAL_NAME* NameOf(const std::string& host) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
  constexpr std::size_t kDnsNameBytesMax = 253;
  std::array<unsigned char, sizeof(in6_addr)> address;
  const bool is_address = inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
                          inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
  const bool is_misspelt = host.find('.') != std::string::npos &&  // As 10.0.0.300.
                           host.find_first_not_of("0123456789.") == std::string::npos;
  const bool is_name = !is_misspelt && !host.empty() && host.size() <= kDnsNameBytesMax &&
                       host.find_first_not_of(kLetters) == std::string::npos;
  if (!is_address && !is_name) return nullptr;
  GENERAL_NAME* const name = GENERAL_NAME_new();
  if (is_address) {
    GENERAL_NAME_set0_value(name, GEN_IPADD, a2i_IPADDRESS(host.c_str()));
  } else {
    ASN1_IA5STRING* const text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, host.data(), static_cast<int>(host.size()));
    GENERAL_NAME_set0_value(name, GEN_DNS, text);
  }
  return name;
}

absl::Status AddHosts(X509& certificate, const std::vector<std::string>& hosts) {
  const GeneralNamesPtr names(GENERAL_NAMES_new());
  for (const std::string& host : hosts) {
    GENERAL_NAME* const name = NameOf(host);
    if (name == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--host ", host, " is neither a name nor an address; write it as in ",
                       "node1.example.org, 192.168.1.11 or fd00::11, without a port"));
    }
    sk_GENERAL_NAME_push(names.get(), name);
  }
  if (hosts.empty()) return absl::OkStatus();
  BSP_CHECK(X509_add1_ext_i2d(&certificate, NID_subject_alt_name, names.get(), 0, 0) == 1);
  return absl::OkStatus();
}

void Sign(X509& certificate, EVP_PKEY& key) {
  BSP_CHECK(X509_sign(&certificate, &key, EVP_sha256()) > 0);
}

std::string TextOf(BIO& bio) {
  char* text = nullptr;
  const long bytes = BIO_get_mem_data(&bio, &text);
  return std::string(text, static_cast<std::size_t>(bytes));
}

std::string PemOf(X509& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  BSP_CHECK(PEM_write_bio_X509(bio.get(), &certificate) == 1);
  return TextOf(*bio);
}

std::string PemOf(EVP_PKEY& key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  BSP_CHECK(PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return TextOf(*bio);
}

// ---- Rules --------------------------------------------------------------------------------------

absl::Status CheckRequest(const CertificateRequest& request) {
  const CertificateIdentity& identity = request.identity;
  for (const std::string& name : {identity.name, identity.user.empty() ? "_" : identity.user}) {
    if (IsNodeName(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name, "\": a name is 1 to 64 of A-Z a-z 0-9 . _ -"));
  }
  const std::string role = RoleName(identity.role);
  if (Serves(identity.role) && request.hosts.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a ", role, " needs --host, once for each name and address by which others connect to it, ",
        "such as --host ", identity.name, " --host 192.168.1.11"));
  }
  if (!Serves(identity.role) && !request.hosts.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--host is for a coordinator or worker; nobody connects to a ", role));
  }
  if (Serves(identity.role) && !identity.user.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--user is for a client or admin; a ", role, " comes in nobody's name"));
  }
  return absl::OkStatus();
}

absl::Status CheckIsNew(const std::string& path, const std::string& otherwise) {
  if (!FileExists(path)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(path, " is there already; ", otherwise));
}

}  // namespace

absl::StatusOr<CertificateFacts> CertificateAuthority::Init(const std::string& directory,
                                                            std::uint32_t days,
                                                            std::int64_t now_unix_s) {
  constexpr std::size_t kDistinctBytes = 4;
  for (const char* file : {kAuthorityFile, kAuthorityKeyFile}) {
    absl::Status is_new = CheckIsNew(
        absl::StrCat(directory, "/", file),
        "a CA is not overwritten, for its certificates would be worth nothing; name another "
        "directory");
    if (!is_new.ok()) return is_new;
  }
  const KeyPtr key = MakeKey();
  const CertificatePtr certificate =
      MakeCertificate(*key, {.begins_unix_s = now_unix_s - kClockSkewS,
                             .ends_unix_s = now_unix_s + days * kSecondsOfDay});
  X509_NAME& subject = *X509_get_subject_name(certificate.get());
  AddAttribute(subject, NID_organizationName, "bspnow");
  AddAttribute(subject, NID_commonName,  // Its own: then errors tell one CA from another.
               absl::StrCat("bspnow CA ", absl::BytesToHexString(RandomBytes(kDistinctBytes))));
  BSP_CHECK(X509_set_issuer_name(certificate.get(), &subject) == 1);
  for (const Extension& extension : {Extension{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                     Extension{NID_key_usage, "critical,keyCertSign,cRLSign"},
                                     Extension{NID_subject_key_identifier, "hash"}})
    AddExtension(*certificate, *certificate, extension);
  Sign(*certificate, *key);
  if (absl::Status s = MakePrivateDirectory(directory); !s.ok()) return s;
  absl::Status written = WriteTlsFiles(
      directory, {{.name = kAuthorityKeyFile, .text = PemOf(*key), .mode = kSecretMode},
                  {.name = kAuthorityFile, .text = PemOf(*certificate), .mode = kPublicMode}});
  if (!written.ok()) return written;
  return FactsOf(*certificate);
}

absl::StatusOr<CertificateAuthority> CertificateAuthority::Open(const std::string& directory,
                                                                std::int64_t now_unix_s) {
  CertificateAuthority authority(directory, now_unix_s);
  absl::StatusOr<CertificatePtr> certificate =
      ReadCertificate(absl::StrCat(directory, "/", kAuthorityFile));
  absl::StatusOr<KeyPtr> key = ReadKey(absl::StrCat(directory, "/", kAuthorityKeyFile));
  for (const absl::Status& read : {certificate.status(), key.status()}) {
    if (read.ok()) continue;
    return absl::Status(read.code(), absl::StrCat("no CA in ", directory, ": ", read.message(),
                                                  "; `bsp certs init` makes one"));
  }
  authority.certificate_ = *std::move(certificate);
  authority.key_ = *std::move(key);
  if (X509_check_private_key(authority.certificate_.get(), authority.key_.get()) != 1) {
    TakeOpensslErrors();
    return absl::FailedPreconditionError(absl::StrCat(directory, "/", kAuthorityKeyFile,
                                                      " does not belong to ", kAuthorityFile,
                                                      " beside it; put back the one that does"));
  }
  const CertificateFacts facts = FactsOf(*authority.certificate_);
  if (facts.ends_unix_s > now_unix_s) return authority;
  return absl::FailedPreconditionError(
      absl::StrCat("the CA in ", directory, " ended on ", TimeText(facts.ends_unix_s),
                   "; make another with `bsp certs init` in another directory, and issue all "
                   "certificates again"));
}

absl::StatusOr<CertificateFacts> CertificateAuthority::Certify(const CertificateRequest& request,
                                                               std::int64_t seconds,
                                                               const std::string& out) const {
  const CertificateIdentity& identity = request.identity;
  const absl::StatusOr<RevokedUntil> revoked = ReadRevoked(directory_);
  if (!revoked.ok()) return revoked.status();
  std::int64_t begins_unix_s = now_unix_s_ - kClockSkewS;
  if (const auto until = revoked->find({identity.role, identity.name}); until != revoked->end())
    begins_unix_s = std::max(begins_unix_s, until->second + 1);  // In the same second, too.
  const KeyPtr key = MakeKey();
  const CertificatePtr certificate = MakeCertificate(
      *key, {.begins_unix_s = begins_unix_s,
             .ends_unix_s = std::min(now_unix_s_ + seconds, FactsOf(*certificate_).ends_unix_s)});
  X509_NAME& subject = *X509_get_subject_name(certificate.get());
  AddAttribute(subject, NID_organizationalUnitName, kUnitPrefix + RoleName(identity.role));
  AddAttribute(subject, NID_commonName, identity.name);
  if (!identity.user.empty()) AddAttribute(subject, NID_userId, identity.user);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  for (const Extension& extension : {Extension{NID_basic_constraints, "critical,CA:FALSE"},
                                     Extension{NID_key_usage, "critical,digitalSignature"},
                                     Extension{NID_ext_key_usage, UsageOf(identity.role)},
                                     Extension{NID_subject_key_identifier, "hash"},
                                     Extension{NID_authority_key_identifier, "keyid:always"}})
    AddExtension(*certificate, *certificate_, extension);
  if (absl::Status s = AddHosts(*certificate, request.hosts); !s.ok()) return s;
  Sign(*certificate, *key_);
  std::vector<NewTlsFile> files = {
      {.name = kAuthorityFile, .text = PemOf(*certificate_), .mode = kPublicMode},
      {.name = kKeyFile, .text = PemOf(*key), .mode = kSecretMode},
      {.name = kCertificateFile, .text = PemOf(*certificate), .mode = kPublicMode}};
  if (!revoked->empty())
    files.push_back({.name = kRevokedFile, .text = RevokedText(*revoked), .mode = kPublicMode});
  if (absl::Status s = WriteTlsFiles(out, files); !s.ok()) return s;
  return FactsOf(*certificate);
}

absl::StatusOr<CertificateFacts> CertificateAuthority::Issue(const CertificateRequest& request,
                                                             const std::string& out) const {
  if (absl::Status s = CheckRequest(request); !s.ok()) return s;
  for (const char* file : {kCertificateFile, kKeyFile}) {
    absl::Status is_new = CheckIsNew(absl::StrCat(out, "/", file),
                                     "`bsp certs rotate` makes it anew, or name another directory");
    if (!is_new.ok()) return is_new;
  }
  absl::Status is_apart = CheckIsNew(absl::StrCat(out, "/", kAuthorityKeyFile),
                                     "the CA's key must not travel with a certificate; name "
                                     "another directory");
  if (!is_apart.ok()) return is_apart;
  CertificateRequest whole = request;
  if (!Serves(request.identity.role) && request.identity.user.empty())
    whole.identity.user = request.identity.name;
  if (absl::Status s = MakePrivateDirectory(out); !s.ok()) return s;
  return Certify(whole, request.days * kSecondsOfDay, out);
}

absl::StatusOr<CertificateFacts> CertificateAuthority::Rotate(const std::string& directory,
                                                              std::uint32_t days) const {
  const std::string path = absl::StrCat(directory, "/", kCertificateFile);
  const absl::StatusOr<CertificatePtr> old = ReadIssued(path);
  if (!old.ok()) return old.status();
  // What somebody else has put there must not become ours.
  if (X509_verify(old->get(), key_.get()) != 1) {
    TakeOpensslErrors();
    return absl::PermissionDeniedError(
        absl::StrCat(path, " was not signed by the CA in ", directory_,
                     "; name its CA with --ca, or issue another one here with `bsp certs issue`"));
  }
  const CertificateFacts facts = FactsOf(**old);
  if (!facts.identity) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " was not made by `bsp certs issue`, so its role is not known"));
  }
  const std::int64_t seconds =
      days == 0 ? facts.ends_unix_s - facts.begins_unix_s - kClockSkewS : days * kSecondsOfDay;
  return Certify({.identity = *facts.identity, .hosts = facts.hosts, .days = days}, seconds,
                 directory);
}

absl::Status CertificateAuthority::Revoke(CertificateRole role, const std::string& name) const {
  if (!IsNodeName(name))
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name, "\": a name is 1 to 64 of A-Z a-z 0-9 . _ -"));
  absl::StatusOr<RevokedUntil> revoked = ReadRevoked(directory_);
  if (!revoked.ok()) return revoked.status();
  std::int64_t& until_unix_s = (*revoked)[{role, name}];
  // What was issued in this second, or right after the last time, begins no later.
  until_unix_s = std::max(until_unix_s + 1, now_unix_s_ - kClockSkewS);
  return WriteTlsFiles(
      directory_, {{.name = kRevokedFile, .text = RevokedText(*revoked), .mode = kPublicMode}});
}

}  // namespace bspnow
