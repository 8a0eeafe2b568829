// The processors that this program may use.
#ifndef CLIENT_OPTIONS_PROCESSORS_H_
#define CLIENT_OPTIONS_PROCESSORS_H_

#include <cstdint>

namespace bspnow::client {

std::uint32_t Processors();

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_PROCESSORS_H_
