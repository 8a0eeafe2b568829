// The processors that this program may use.
#ifndef CLIENT_PROCESSORS_H_
#define CLIENT_PROCESSORS_H_

#include <cstdint>

namespace bspnow {

std::uint32_t Processors();

}  // namespace bspnow

#endif  // CLIENT_PROCESSORS_H_
