// The directory that --tls names: ca.crt, which others' certificates are checked with, and one's
// own certificate tls.crt with its key tls.key. A client may have ca.crt alone.
#ifndef NET_TLS_TLS_DIRECTORY_H_
#define NET_TLS_TLS_DIRECTORY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls/certificate.h"

namespace bspnow {

inline constexpr char kAuthorityFile[] = "ca.crt";
inline constexpr char kAuthorityKeyFile[] = "ca.key";  ///< Of the CA alone.
inline constexpr char kCertificateFile[] = "tls.crt";
inline constexpr char kKeyFile[] = "tls.key";

/// What somebody does with it. A coordinator and a worker serve, with a certificate of their role,
/// by which others know them; a worker calls others with it, too.
enum class TlsUse { kCoordinate, kWork, kCall };

/// What the directory's own certificate says, if there is one; what is wrong with the files, and
/// how to mend it, if they cannot be used now.
absl::StatusOr<std::optional<CertificateFacts>> CheckTlsDirectory(const std::string& directory,
                                                                  TlsUse use,
                                                                  std::int64_t now_unix_s);

/// What a certificate in PEM says, which a client has shown to a server with this directory, and
/// whose key he has. Unauthenticated, with the reason for him, unless the directory's CA has signed
/// it for clients and its time is now; it may be revoked. Reads ca.crt each time.
absl::StatusOr<CertificateFacts> CheckShown(const std::string& directory, std::string_view pem,
                                            std::int64_t now_unix_s);

/// Ok if the directory's own certificate is for `host`, a name or an address, by which others
/// connect, or there is no directory: plain text.
absl::Status CheckServedHost(const std::string& directory, const std::string& host);

// ---- For those who make them --------------------------------------------------------------------

inline constexpr mode_t kSecretMode = 0600;
inline constexpr mode_t kPublicMode = 0644;

struct NewTlsFile {
  std::string name;
  std::string text;
  mode_t mode;  ///< Unless there is such a file (base/file_owner.h).
};

/// All are whole before the first gets its name, in this order.
absl::Status WriteTlsFiles(const std::string& directory, const std::vector<NewTlsFile>& files);

/// Ok if it is there now and open to nobody but its owner, since there are keys in it.
absl::Status MakePrivateDirectory(const std::string& path);

bool FileExists(const std::string& path);

/// The certificate at `path`; the error says who makes one that is missing.
absl::StatusOr<CertificatePtr> ReadIssued(const std::string& path);

}  // namespace bspnow

#endif  // NET_TLS_TLS_DIRECTORY_H_
