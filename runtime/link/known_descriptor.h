// A descriptor of libbsp's in the program's process. A program may close all descriptors that it
// finds, and open files of its own, which get their numbers: so libbsp looks before it uses one.
#ifndef RUNTIME_LINK_KNOWN_DESCRIPTOR_H_
#define RUNTIME_LINK_KNOWN_DESCRIPTOR_H_

#include <sys/types.h>

#include "base/unique_fd.h"

namespace bspnow::runtime {

/// Names a socket; does not own it, for nobody may close what has become the program's.
class KnownDescriptor {
 public:
  KnownDescriptor() = default;
  explicit KnownDescriptor(int number);

  /// Takes the number from `descriptor`, moved out of the way of the program, which may count on
  /// the numbers from 3 on; no program that it executes gets it.
  static KnownDescriptor OutOfTheWay(UniqueFd descriptor);

  bool StillOurs() const;
  int number() const { return number_; }

  /// The number, or -1 if it is the program's now.
  int NumberIfOurs() const { return StillOurs() ? number_ : -1; }

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_KNOWN_DESCRIPTOR_H_
