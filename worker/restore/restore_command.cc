#include "worker/restore/restore_command.h"

#include <absl/strings/str_join.h>

namespace bspnow::worker {

std::vector<std::string> RestoreArguments(const RestoreRequest& request) {
  std::vector<std::string> arguments = {
      "bsp-restore", "--images", absl::StrJoin(request.images, ","), "--texts",
      request.texts, "--link",   std::to_string(request.link)};
  if (!request.old_directory.empty() && request.old_directory != request.new_directory) {
    arguments.insert(arguments.end(), {"--moved", request.old_directory, request.new_directory});
  }
  return arguments;
}

}  // namespace bspnow::worker
