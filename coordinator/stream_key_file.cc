#include "coordinator/stream_key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include <absl/status/status.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include "base/durable_file.h"
#include "base/unique_fd.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kLineBytes = 2 * StreamKey::kBytes + 1;

std::string LineOf(const StreamKey& key) {
  return absl::StrCat(absl::BytesToHexString(key.bytes()), "\n");
}

std::optional<StreamKey> KeyOf(std::string_view line) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (line.size() != kLineBytes || line.back() != '\n') return std::nullopt;
  line.remove_suffix(1);
  if (line.find_first_not_of(kDigits) != std::string_view::npos) return std::nullopt;
  return StreamKey::FromBytes(absl::HexStringToBytes(std::string(line)));
}

absl::StatusOr<StreamKey> MakeKey(const std::string& path) {
  const StreamKey key = StreamKey::Random();
  if (absl::Status made = ReplaceFile(path, LineOf(key)); !made.ok()) return made;
  spdlog::info("event=stream_key_made path={}", path);
  return key;
}

}  // namespace

absl::StatusOr<StreamKey> OpenStreamKey(const std::string& path) {
  // A FIFO in its place would hold the daemon up until somebody writes to it.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() && errno == ENOENT) return MakeKey(path);
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("opening the streams' key ", path));
  if (!S_ISREG(status.st_mode))
    return absl::FailedPreconditionError(absl::StrCat(
        "the streams' key ", path, " is no regular file: remove it, and a new one is made"));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return absl::FailedPreconditionError(absl::StrCat(
        "others may read the streams' key ", path,
        ": remove it, and a new one is made, or chmod 600 if nobody else has read it"));
  char line[kLineBytes + 1];
  const ssize_t n = read(file.get(), line, sizeof line);
  if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading the streams' key ", path));
  const auto key = KeyOf({line, static_cast<std::size_t>(n)});
  if (key.has_value()) return *key;
  return absl::DataLossError(
      absl::StrCat("the streams' key ", path,
                   " is damaged: put it back, or remove it, and a new one is made, which the "
                   "workers get when they register"));
}

}  // namespace bspnow::coordinator
