// --file: a file here, and its name in the job's directory.
#ifndef CLIENT_OPTIONS_FILE_OPTION_H_
#define CLIENT_OPTIONS_FILE_OPTION_H_

#include <absl/status/statusor.h>

#include <string>

namespace bspnow::client {

struct FileOption {
  std::string name;  ///< Relative, without "..".
  std::string path;
};

/// NAME=PATH, or PATH: then the name is the path, or only its last component where the path is
/// absolute or leads upwards.
absl::StatusOr<FileOption> ParseFileOption(const std::string& text);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_FILE_OPTION_H_
