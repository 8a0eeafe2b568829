#include "runtime/link/doorbell.h"

#include <sys/socket.h>

namespace bspnow::runtime {

void Doorbell::Say(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value, std::memory_order_seq_cst);
  RingIfAsleep();
}

void Doorbell::Handed() {
  bell_->handed.fetch_add(1, std::memory_order_seq_cst);
  RingIfAsleep();
}

void Doorbell::GroupsChanged() {
  bell_->groups.fetch_add(1, std::memory_order_seq_cst);
  RingIfAsleep();
}

void Doorbell::HearWorker() {
  char rings[64];
  if (recv(socket_.number(), rings, sizeof rings, MSG_DONTWAIT) <= 0) return;
}

void Doorbell::RingIfAsleep() {
  if (bell_->sleeping.load(std::memory_order_seq_cst) == 0) return;
  // A full socket rings as well; and a worker that nobody rings looks at its bells now and then.
  if (socket_.StillOurs() && send(socket_.number(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
}

}  // namespace bspnow::runtime
