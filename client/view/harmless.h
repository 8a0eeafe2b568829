// What others have chosen, on somebody's terminal.
#ifndef CLIENT_VIEW_HARMLESS_H_
#define CLIENT_VIEW_HARMLESS_H_

#include <string>

namespace bspnow::client {

/// Without what steers a terminal: control characters become `?`.
std::string Harmless(std::string text);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_HARMLESS_H_
