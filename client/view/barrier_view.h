// Whom a job waits for, in words; the same for a job on this machine and on a cluster.
#ifndef CLIENT_VIEW_BARRIER_VIEW_H_
#define CLIENT_VIEW_BARRIER_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow::client {

/// What a process waits for at the end of a superstep that ends by counting.
struct AwaitedMessages {
  std::uint64_t superstep = 0;
  std::uint64_t expected = 0;
  std::uint64_t here = 0;
};

/// A process that has not arrived at the barrier.
struct AwaitedProcess {
  std::uint32_t pid;
  std::uint32_t os_pid;        ///< 0: not known.
  std::string node{};          ///< Empty: this machine.
  std::uint32_t lateness;      ///< As worker::Lateness and proto::Lateness have it.
  bool begun;                  ///< Has passed bsp_begin.
  AwaitedMessages messages{};  ///< If it waits for messages.
  std::uint64_t for_s;         ///< The barrier has not moved.
};

struct AwaitedProcesses {
  std::uint32_t arrived = 0;            ///< Processes that wait.
  std::vector<AwaitedProcess> shown{};  ///< For these,
  std::uint32_t count = 0;              ///< which are so many with those that are not shown.
};

/// As in "computing".
std::string LatenessName(std::uint32_t lateness);

/// Whether anybody waits, or a process is stopped or dead. Else all compute, which is no news.
bool IsNews(const AwaitedProcesses& awaited);

/// As in "pid 3 on w2 (process 4711): stopped, for 12 s", and how many there are besides.
std::vector<std::string> AwaitedLines(const AwaitedProcesses& awaited);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_BARRIER_VIEW_H_
