// Lines of text between mini_cluster and one of its nodes.
#ifndef TESTS_EXCHANGE_NODE_PIPES_H_
#define TESTS_EXCHANGE_NODE_PIPES_H_

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/check.h"
#include "base/unique_fd.h"

namespace bspnow::worker {

struct Pipes {
  UniqueFd read_end;
  UniqueFd write_end;
};

inline Pipes MakePipe() {
  int ends[2];
  BSP_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  return Pipes{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

inline void WriteLine(int fd, const std::string& text) {
  const std::string line = text + "\n";
  BSP_CHECK(write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
}

inline std::string ReadLine(int fd) {
  std::string line;
  char c;
  while (read(fd, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

}  // namespace bspnow::worker

#endif  // TESTS_EXCHANGE_NODE_PIPES_H_
