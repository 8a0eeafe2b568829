#include "runtime/link/doorbell.h"

#include <sys/socket.h>
#include <sys/stat.h>

namespace bspnow::runtime {

Doorbell::Doorbell(WorkerBell& bell, int descriptor) : bell_(&bell), descriptor_(descriptor) {
  struct stat status;
  if (fstat(descriptor_, &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

void Doorbell::Say(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value, std::memory_order_seq_cst);
  RingIfAsleep();
}

void Doorbell::Handed() {
  bell_->handed.fetch_add(1, std::memory_order_seq_cst);
  RingIfAsleep();
}

void Doorbell::RingIfAsleep() {
  if (bell_->sleeping.load(std::memory_order_seq_cst) == 0) return;
  // A full socket rings as well; and a worker that nobody rings looks at its bells now and then.
  if (StillOurs() && send(descriptor_, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
}

// A program may close all descriptors that it finds, and open files of its own with their numbers.
bool Doorbell::StillOurs() const {
  struct stat status;
  return fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

}  // namespace bspnow::runtime
