#include "runtime/call_site.h"

#include <stdio.h>
#include <string.h>

namespace bspnow {
namespace {

constexpr std::size_t kPathBytes = 4096;
constexpr std::size_t kCommandBytes = kPathBytes + 128;

struct ModuleAddress {
  char path[kPathBytes];
  unsigned long long address;  ///< In the module's file.
};

bool FindModule(std::uint32_t os_pid, unsigned long long address, ModuleAddress& found) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%u/maps", os_pid);
  FILE* maps = fopen(name, "re");
  if (maps == nullptr) return false;
  char line[kPathBytes + 128];
  bool ok = false;
  while (!ok && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long begin;
    unsigned long long end;
    unsigned long long offset;
    int path_at = 0;
    if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &begin, &end, &offset, &path_at) != 3)
      continue;
    if (address < begin || address >= end || line[path_at] != '/') continue;
    snprintf(found.path, sizeof found.path, "%s", line + path_at);
    found.path[strcspn(found.path, "\n")] = '\0';
    found.address = address - begin + offset;
    ok = true;
  }
  fclose(maps);
  return ok;
}

// The answer of addr2line, without the directory; false if there is none.
bool FindLine(const ModuleAddress& module, char* text) {
  if (strchr(module.path, '\'') != nullptr) return false;
  char command[kCommandBytes];
  snprintf(command, sizeof command, "addr2line -e '%s' 0x%llx 2>/dev/null", module.path,
           module.address);
  FILE* answer = popen(command, "re");
  if (answer == nullptr) return false;
  char line[kPathBytes];
  const bool got = fgets(line, sizeof line, answer) != nullptr;
  pclose(answer);
  if (!got || line[0] == '?') return false;
  line[strcspn(line, " \n")] = '\0';
  const char* slash = strrchr(line, '/');
  snprintf(text, kCallSiteTextBytes, "%.500s", slash == nullptr ? line : slash + 1);
  return true;
}

}  // namespace

void DescribeCallSite(std::uint32_t os_pid, std::uint64_t address, char* text) {
  ModuleAddress module;
  const std::uint64_t in_call = address - 1;  // A return address may be on the next line.
  if (!FindModule(os_pid, in_call, module)) {
    snprintf(text, kCallSiteTextBytes, "0x%llx", static_cast<unsigned long long>(in_call));
    return;
  }
  if (FindLine(module, text)) return;
  const char* slash = strrchr(module.path, '/');
  snprintf(text, kCallSiteTextBytes, "%.480s+0x%llx", slash == nullptr ? module.path : slash + 1,
           module.address);
}

}  // namespace bspnow
