// --profile: the file for a profile, and its form.
#ifndef CLIENT_OPTIONS_PROFILE_OPTION_H_
#define CLIENT_OPTIONS_PROFILE_OPTION_H_

#include <string>

namespace bspnow::client {

/// What is wrong with a file's name: it ends neither in .html nor in .svg or .json. Empty: nothing.
std::string CheckProfileFile(const std::string& path);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_PROFILE_OPTION_H_
