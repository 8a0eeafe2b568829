// A file descriptor with one owner; the only place that calls close.
#ifndef BASE_UNIQUE_FD_H_
#define BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace bspnow {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  /// Gives the descriptor up without closing it.
  int Release() { return std::exchange(fd_, -1); }

  void Reset() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace bspnow

#endif  // BASE_UNIQUE_FD_H_
