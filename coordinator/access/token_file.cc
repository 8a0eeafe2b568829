#include "coordinator/access/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>
#include <utility>
#include <vector>

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include "base/check.h"
#include "base/durable_file.h"
#include "base/file_state.h"
#include "base/node_name.h"
#include "base/unique_fd.h"
#include "files/sha256.h"

namespace bspnow::coordinator {
namespace {

constexpr char kPrefix[] = "bspnow-";
constexpr std::size_t kSecretBytes = 32;
constexpr char kNameRule[] = "the name of a user or token is 1 to 64 of A-Z a-z 0-9 . _ -";

const std::vector<std::pair<Scope, std::string>> kScopeNames = {{Scope::kRead, "read"},
                                                                {Scope::kSubmit, "submit"},
                                                                {Scope::kJoin, "join"},
                                                                {Scope::kAdmin, "admin"}};

std::string HashOf(const std::string& token) {
  files::Sha256 sum;
  sum.Add(token);
  return sum.Hexadecimal();
}

std::string DirectoryOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Until it is closed: the file is read, and another one put in its place. Of two administrators at
/// once one's token would be lost.
absl::StatusOr<UniqueFd> TakeTurn(const std::string& path) {
  UniqueFd directory(open(DirectoryOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid() && flock(directory.get(), LOCK_EX) == 0) return directory;
  return absl::ErrnoToStatus(errno, absl::StrCat("locking the directory of ", path));
}

/// A line of it makes an administrator of anybody. Root makes tokens for a service, which owns the
/// directory; whose the file was while everybody could write there has it still.
absl::Status CheckWriters(const struct stat& file, const std::string& path) {
  struct stat directory {};
  if (stat(DirectoryOf(path).c_str(), &directory) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("looking whose the directory of ", path, " is"));
  if (!S_ISREG(file.st_mode))
    return absl::FailedPreconditionError(absl::StrCat(path, " is no regular file: remove it"));
  if ((file.st_mode & S_IWOTH) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat("everybody may write to ", path, ": look through its lines, and chmod 600"));
  const uid_t owner = file.st_uid;
  if (owner == 0 || owner == geteuid() || owner == directory.st_uid) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("another user (uid ", owner, ") may write to ", path,
                   ": look through its lines, and give it to the owner of the directory (chown)"));
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  constexpr std::size_t kPieceBytes = 4096;
  std::string text;
  char piece[kPieceBytes];
  for (;;) {
    const ssize_t n = read(fd, piece, sizeof piece);
    if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", path));
    if (n == 0) return text;
    text.append(piece, static_cast<std::size_t>(n));
  }
}

/// Empty if there is none.
absl::StatusOr<std::string> TextOf(const std::string& path) {
  // A FIFO in its place would hold the daemon up until somebody writes to it.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid() && errno == ENOENT) return std::string();
  struct stat found {};
  if (!file.valid() || fstat(file.get(), &found) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  if (absl::Status safe = CheckWriters(found, path); !safe.ok()) return safe;
  return ReadAll(file.get(), path);
}

}  // namespace

absl::StatusOr<Scopes> ParseScopes(const std::string& text) {
  Scopes scopes = 0;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ','))) {
    Scopes found = 0;
    for (const auto& [scope, name] : kScopeNames)
      if (name == word) found = static_cast<Scopes>(scope);
    if (found == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", word, "\" is no scope; there are read, submit, join and admin"));
    }
    scopes = static_cast<Scopes>(scopes | found);
  }
  return scopes;
}

std::string ScopesText(Scopes scopes) {
  std::vector<std::string> words;
  for (const auto& [scope, name] : kScopeNames)
    if ((scopes & static_cast<Scopes>(scope)) != 0) words.push_back(name);
  return absl::StrJoin(words, ",");
}

absl::StatusOr<TokenFile::Tokens> TokenFile::Read() const {
  Tokens tokens;
  absl::StatusOr<std::string> text = TextOf(path_);
  if (!text.ok()) return text.status();
  std::istringstream file(*std::move(text));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    Known known;
    std::string scopes;
    std::string hash;
    words >> known.name >> known.caller.user >> scopes >> known.until_unix_s >> hash;
    const absl::StatusOr<Scopes> parsed = ParseScopes(scopes);
    if (words.fail() || !parsed.ok() || !files::CheckSha256(hash).ok())
      return absl::DataLossError(absl::StrCat(path_, ":", number,
                                              ": not NAME USER SCOPES UNTIL SHA256; mend that line "
                                              "or take it out"));
    known.caller.scopes = *parsed;
    tokens[hash] = std::move(known);
  }
  return tokens;
}

absl::StatusOr<std::string> TokenFile::Add(const NewToken& token) const {
  for (const std::string& word : {token.name, token.caller.user})
    if (!IsNodeName(word))
      return absl::InvalidArgumentError(absl::StrCat("\"", word, "\": ", kNameRule));
  const absl::StatusOr<UniqueFd> turn = TakeTurn(path_);
  if (!turn.ok()) return turn.status();
  const absl::StatusOr<Tokens> known = Read();
  if (!known.ok()) return known.status();
  std::string lines;
  for (const auto& [hash, other] : *known) {
    if (other.name == token.name && other.caller.user == token.caller.user) {
      return absl::AlreadyExistsError(absl::StrCat(
          "user ", other.caller.user, " has a token of the name ", other.name,
          "; give this one another --token-name, or take the line of that one out of ", path_));
    }
    absl::StrAppend(&lines, other.name, " ", other.caller.user, " ",
                    ScopesText(other.caller.scopes), " ", other.until_unix_s, " ", hash, "\n");
  }
  char secret[kSecretBytes];
  BSP_CHECK(getrandom(secret, sizeof secret, 0) == ssize_t{sizeof secret});
  const std::string made =
      absl::StrCat(kPrefix, absl::BytesToHexString(std::string(secret, sizeof secret)));
  absl::StrAppend(&lines, token.name, " ", token.caller.user, " ", ScopesText(token.caller.scopes),
                  " ", token.until_unix_s, " ", HashOf(made), "\n");
  if (absl::Status written = ReplaceFile(path_, lines); !written.ok()) return written;
  return made;
}

/// A file that cannot be read may be readable at the next call, without having changed: when there
/// are descriptors again, say.
void TokenFile::ReadAgain(const struct stat& found) const {
  absl::StatusOr<Tokens> read = Read();
  std::string failure = read.ok() ? "" : std::string(read.status().message());
  if (!failure.empty() && failure != failure_)
    spdlog::error("event=tokens_unreadable error=\"{}\"", failure);
  failure_ = std::move(failure);
  read_ = read.ok() ? std::optional(found) : std::nullopt;
  tokens_ = read.ok() ? *std::move(read) : Tokens();
}

// A file that cannot be understood lets nobody in: which token was revoked is not known.
std::optional<Caller> TokenFile::CallerOf(const std::string& token, std::int64_t now_unix_s) const {
  if (!token.starts_with(kPrefix)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  struct stat found {};
  if (stat(path_.c_str(), &found) != 0) found = {};
  if (!read_ || !IsSameState(*read_, found)) ReadAgain(found);
  const auto known = tokens_.find(HashOf(token));
  if (known == tokens_.end() || now_unix_s >= known->second.until_unix_s) return std::nullopt;
  return known->second.caller;
}

}  // namespace bspnow::coordinator
