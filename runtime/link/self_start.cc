#include "runtime/link/self_start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow_array.h"
#include "base/unique_fd.h"
#include "runtime/link/install_prefix.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kPathBytes = 4096;

// All arguments of this process: NUL-terminated strings, one after the other.
GrowArray<char> ReadArguments() {
  GrowArray<char> text;
  const UniqueFd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  char part[4096];
  for (;;) {
    const ssize_t n = read(file.get(), part, sizeof part);
    if (n <= 0) break;
    for (ssize_t i = 0; i < n; ++i) text.push_back(part[i]);
  }
  text.push_back('\0');
  return text;
}

}  // namespace

void StartUnderLauncher() {
  // Who comes back here without a link was started by something that is no launcher.
  if (getenv(kSelfStartVariable) != nullptr) {
    ReportFailure("BSPRUN=%s is no launcher; name bsprun there, or unset it",
                  getenv("BSPRUN") == nullptr ? "" : getenv("BSPRUN"));
  }
  setenv(kSelfStartVariable, "1", 1);
  char program[kPathBytes];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) ReportFailure("cannot read /proc/self/exe: %s; use bsprun", strerror(errno));
  program[length] = '\0';

  GrowArray<char> text = ReadArguments();
  char launcher_name[] = "bsprun";
  char end_of_options[] = "--";
  GrowArray<char*> arguments;
  arguments.push_back(launcher_name);
  arguments.push_back(end_of_options);
  arguments.push_back(program);
  std::size_t at = strlen(text.begin()) + 1;  // Without argv[0].
  while (at + 1 < text.size()) {
    arguments.push_back(text.begin() + at);
    at += strlen(text.begin() + at) + 1;
  }
  arguments.push_back(nullptr);

  // Text that was printed but not flushed goes down with this process, and is printed once: by the
  // program when it comes back here as a BSP process.
  if (const char* named = getenv("BSPRUN")) execv(named, arguments.begin());
  if (bsp_install_prefix[0] != '@') {
    char launcher[kPathBytes];
    snprintf(launcher, sizeof launcher, "%s/bin/bsprun", bsp_install_prefix);
    execv(launcher, arguments.begin());
  }
  execvp(launcher_name, arguments.begin());
  ReportFailure(
      "this is a BSP program, and its launcher was not found (%s); start it with"
      " bsprun -n P %s, put bsprun on the PATH, or name it in BSPRUN",
      strerror(errno), program);
}

}  // namespace bspnow::runtime
