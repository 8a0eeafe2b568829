#include "client/child_output.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/unique_fd.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kReadBytes = 4096;

std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[kReadBytes];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

absl::StatusOr<ChildOutput> RunChild(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("making a pipe: ", strerror(errno)));
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::NotFoundError(absl::StrCat("starting ", command[0], ": ", strerror(error)));
  }
  write_end.Reset();
  ChildOutput result{.output = ReadToEnd(read_end.get()), .status = 0};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  result.status = WIFSIGNALED(status) ? kSignalStatus + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace bspnow::client
