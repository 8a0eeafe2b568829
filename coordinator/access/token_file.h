// Tokens that were made for users and workers on other machines: the file `tokens` of the state
// directory, one line each: NAME USER SCOPES UNTIL SHA256. Only hashes are kept. Whoever takes a
// line out revokes that token: the file is read again when it has changed.
#ifndef COORDINATOR_ACCESS_TOKEN_FILE_H_
#define COORDINATOR_ACCESS_TOKEN_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <absl/status/statusor.h>
#include "coordinator/core/caller.h"

namespace bspnow::coordinator {

/// "read,submit,join" and "admin", in any order.
absl::StatusOr<Scopes> ParseScopes(const std::string& text);
std::string ScopesText(Scopes scopes);

struct NewToken {
  std::string name;  ///< To tell it from others of the user.
  Caller caller;
  std::int64_t until_unix_s;
};

class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}

  /// Adds a line, and returns the token itself, which nobody can learn again. An error names what
  /// is wrong with the file, or that there is such a name of this user. Several may add at once.
  absl::StatusOr<std::string> Add(const NewToken& token) const;

  /// Nothing if it is none of these, or over. From any thread.
  std::optional<Caller> CallerOf(const std::string& token, std::int64_t now_unix_s) const;

 private:
  struct Known {
    std::string name;
    Caller caller;
    std::int64_t until_unix_s;
  };
  using Tokens = std::map<std::string, Known>;  // By SHA-256.

  absl::StatusOr<Tokens> Read() const;
  void ReadAgain(const struct stat& found) const;

  const std::string path_;
  mutable std::mutex mutex_;  ///< Guards the following.
  mutable Tokens tokens_;
  mutable std::optional<struct stat> read_;  ///< The file that they are from; zero: there was none.
  mutable std::string failure_;              ///< Of the last attempt to read it.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_TOKEN_FILE_H_
