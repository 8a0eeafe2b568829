// Messages of PUB's objects: those of the engine, with a tag of the library's own. It tells who
// sent a message, since bspmsg_src has nothing but the message, and it keeps the values of
// reductions apart from the program's messages.
#ifndef RUNTIME_PUB_PUB_MESSAGE_H_
#define RUNTIME_PUB_PUB_MESSAGE_H_

#include <cstdint>

#include "runtime/link/records.h"

namespace bspnow::runtime {

struct PubTag {
  std::uint32_t source;     ///< Its pid in the group.
  std::uint32_t reduction;  ///< 0: a message of the program. Else a digest of the call.
};
static_assert(sizeof(PubTag) == sizeof(MessageRecord::tag));

inline const PubTag& TagOf(const MessageRecord& message) {
  return *reinterpret_cast<const PubTag*>(message.tag);
}

}  // namespace bspnow::runtime

#endif  // RUNTIME_PUB_PUB_MESSAGE_H_
