// What others have chosen, on somebody's terminal.
#ifndef CLIENT_VIEW_HARMLESS_H_
#define CLIENT_VIEW_HARMLESS_H_

#include <string>

namespace bspnow::client {

/// Without what steers a terminal: control characters become `?`, and so do those that turn the
/// direction of text, by which a name could make the rest of its line read otherwise.
std::string Harmless(std::string text);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_HARMLESS_H_
