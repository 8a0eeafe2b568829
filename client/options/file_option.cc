#include "client/options/file_option.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <vector>

namespace bspnow::client {
namespace {

// Whether a name stays below the directory in which it is used.
bool StaysBelow(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.back() == '/') return false;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(name, '/'))) {
    if (part == "..") return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<FileOption> ParseFileOption(const std::string& text) {
  const std::size_t equals = text.find('=');
  FileOption option{.name = text.substr(0, equals),
                    .path = equals == std::string::npos ? text : text.substr(equals + 1)};
  if (equals == std::string::npos && !StaysBelow(text)) {
    option.name = text.substr(text.rfind('/') + 1);
  }
  if (option.path.empty() || !StaysBelow(option.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, " is neither PATH nor NAME=PATH with a NAME below the job's directory"));
  }
  return option;
}

}  // namespace bspnow::client
