// Messages over Unix sockets with descriptors beside them.
#ifndef BASE_SEND_DESCRIPTORS_H_
#define BASE_SEND_DESCRIPTORS_H_

#include <sys/types.h>

#include <cstddef>
#include <span>

namespace bspnow {

enum class IfFull { kWait, kFail };

/// As sendmsg(2), but without a signal. `bytes` may not be empty, `descriptors` may: the system
/// takes 253 of them.
ssize_t SendDescriptors(int socket, std::span<const std::byte> bytes,
                        std::span<const int> descriptors, IfFull if_full);

}  // namespace bspnow

#endif  // BASE_SEND_DESCRIPTORS_H_
