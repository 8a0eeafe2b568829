#include "base/environment.h"

#include <unistd.h>

namespace bspnow {

std::vector<std::string> EnvironmentWith(const std::vector<std::string>& additions) {
  std::vector<std::string> result = additions;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& addition : additions)
      replaced |= addition.compare(0, name.size(), name) == 0;
    if (!replaced) result.push_back(text);
  }
  return result;
}

}  // namespace bspnow
