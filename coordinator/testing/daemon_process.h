// For tests: a bsp-coordinator that runs, and says when it is ready as systemd would hear it.
#ifndef COORDINATOR_TESTING_DAEMON_PROCESS_H_
#define COORDINATOR_TESTING_DAEMON_PROCESS_H_

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/unique_fd.h"

namespace bspnow::coordinator {

class DaemonProcess {
 public:
  /// Returns when it is ready. `more`: flags.
  explicit DaemonProcess(const std::string& state_dir, std::vector<std::string> more)
      : state_dir_(state_dir) {
    std::vector<std::string> words = {"coordinator/bsp-coordinator",
                                      "--listen",
                                      "127.0.0.1:0",
                                      "--state-dir",
                                      state_dir,
                                      "--login-socket",
                                      state_dir + "/login"};
    setenv("BSP_LOGIN_SOCKET", words.back().c_str(), 1);
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string path = state_dir + "/ready";
    unlink(path.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    BSP_CHECK(path.size() < sizeof(address.sun_path));
    memcpy(address.sun_path, path.data(), path.size());
    const UniqueFd ready(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    BSP_CHECK(bind(ready.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    BSP_CHECK(posix_spawn(&pid_, words[0].c_str(), nullptr, nullptr, arguments.data(), environ) ==
              0);
    char text[16] = {};
    BSP_CHECK(recv(ready.get(), text, sizeof(text), 0) > 0);
    BSP_CHECK(strcmp(text, "READY=1") == 0);
  }
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;
  ~DaemonProcess() {
    if (pid_ > 0) End(SIGKILL);
  }

  pid_t pid() const { return pid_; }

  /// "listen", "barrier" or "metrics": where it listens.
  std::string Address(const std::string& name) const {
    std::ifstream file(state_dir_ + "/address");
    std::string line;
    while (std::getline(file, line))
      if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    return "";
  }

  /// As waitpid tells it.
  int End(int signal) {
    int status = 0;
    kill(pid_, signal);
    BSP_CHECK(waitpid(pid_, &status, 0) == pid_);
    pid_ = 0;
    return status;
  }

 private:
  const std::string state_dir_;
  pid_t pid_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_TESTING_DAEMON_PROCESS_H_
