#include "worker/restore/restore_command.h"

namespace bspnow::worker {

std::vector<std::string> RestoreArguments(const RestoreRequest& request) {
  std::vector<std::string> arguments = {"bsp-restore", "--texts", request.texts, "--link",
                                        std::to_string(request.link)};
  for (const std::string& image : request.images)
    arguments.insert(arguments.end(), {"--image", image});
  if (!request.old_directory.empty()) {
    arguments.insert(arguments.end(),
                     {"--directory", request.old_directory, request.new_directory});
  }
  return arguments;
}

}  // namespace bspnow::worker
