#include "client/options/profile_option.h"

namespace bspnow::client {

std::string CheckProfileFile(const std::string& path) {
  for (const char* const end : {".html", ".svg", ".json"})
    if (path.ends_with(end)) return "";
  return path + " says no form; end its name in .html, .svg or .json";
}

}  // namespace bspnow::client
