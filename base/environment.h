// Variables of a process's environment.
#ifndef BASE_ENVIRONMENT_H_
#define BASE_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace bspnow {

/// `additions` (NAME=VALUE), and after them this process's environment but for variables of their
/// names.
std::vector<std::string> EnvironmentWith(const std::vector<std::string>& additions);

}  // namespace bspnow

#endif  // BASE_ENVIRONMENT_H_
