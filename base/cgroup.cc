#include "base/cgroup.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace bspnow {
namespace {

std::string ReadText(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

}  // namespace

std::string CgroupOf(const std::string& cgroup, const std::string& mountinfo) {
  std::string group;
  for (const std::string& line : LinesOf(cgroup)) {
    if (absl::StartsWith(line, "0::/")) group = line.substr(3);
  }
  for (const std::string& line : LinesOf(mountinfo)) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() < 5 || line.find(" - cgroup2 ") == std::string::npos) continue;
    const std::string root = words[3] == "/" ? "" : words[3];
    if (absl::StartsWith(group, root + "/")) return words[4] + group.substr(root.size());
  }
  return {};
}

std::string OwnCgroup() {
  return CgroupOf(ReadText("/proc/self/cgroup"), ReadText("/proc/self/mountinfo"));
}

// The file says "max" where there is no limit, and the topmost group has none.
std::uint64_t CgroupMemoryMax(const std::string& group) {
  std::uint64_t least = ~std::uint64_t{0};
  if (group.empty()) return least;
  for (std::filesystem::path path = std::filesystem::path(group).lexically_normal();;
       path = path.parent_path()) {
    std::ifstream file(path / "memory.max");
    std::string word;
    std::uint64_t bytes;
    if (file >> word && absl::SimpleAtoi(word, &bytes)) least = std::min(least, bytes);
    if (!path.has_relative_path()) return least;
  }
}

std::uint64_t MemoryBytes() {
  const std::uint64_t machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(machine, CgroupMemoryMax(OwnCgroup()));
}

}  // namespace bspnow
