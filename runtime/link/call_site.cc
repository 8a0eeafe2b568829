#include "runtime/link/call_site.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace bspnow::runtime {
namespace {

constexpr std::size_t kPathBytes = 4096;
constexpr std::size_t kCommandBytes = kPathBytes + 128;

struct ModuleAddress {
  char path[kPathBytes];
  unsigned long long address;  ///< In the module's file.
};

bool FindModule(std::uint32_t os_pid, unsigned long long address, ModuleAddress& found) {
  char name[64];
  if (os_pid == kElsewhere) return false;
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

// What bsp.hpp inlines into a program is not where the program went wrong.
constexpr const char* kInlinedHeaders[] = {
    "/bsp/basis.hpp:", "/bsp/collectives.hpp:", "/bsp/memory.hpp:", "/bsp/messages.hpp:",
    "/bsp/world.hpp:"};

bool IsInlined(const char* line) {
  for (const char* header : kInlinedHeaders) {
    if (strstr(line, header) != nullptr) return true;
  }
  return false;
}

// The answer of addr2line, without the directory; false if there is none. Of a place in inlined
// functions the innermost outside bsp.hpp.
bool FindLine(const ModuleAddress& module, char* text) {
  if (strchr(module.path, '\'') != nullptr) return false;
  char command[kCommandBytes];
  snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%llx 2>/dev/null", module.path,
           module.address);
  FILE* answer = popen(command, "re");
  if (answer == nullptr) return false;
  char line[kPathBytes];
  bool found = false;
  bool in_program = false;
  while (!in_program && fgets(line, sizeof line, answer) != nullptr) {
    if (line[0] == '?') continue;
    in_program = !IsInlined(line);
    line[strcspn(line, " \n")] = '\0';
    const char* slash = strrchr(line, '/');
    snprintf(text, kCallSiteTextBytes, "%.500s", slash == nullptr ? line : slash + 1);
    found = true;
  }
  pclose(answer);
  return found;
}

// Set in a recorded call site that counts from the program's own program headers: no address of a
// process has this bit.
constexpr std::uint64_t kFromHeaders = std::uint64_t{1} << 63;

// Called for the program first, and then stops.
int FindInProgram(dl_phdr_info* info, std::size_t, void* site) {
  auto& address = *static_cast<std::uint64_t*>(site);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || address < begin || address - begin >= part.p_memsz) continue;
    address = (address - getauxval(AT_PHDR)) | kFromHeaders;
    break;
  }
  return 1;
}

// Where the program headers of a process on this node are; 0 if the system hides them.
std::uint64_t HeadersOf(std::uint32_t os_pid) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%u/auxv", os_pid);
  FILE* vector = fopen(name, "re");
  if (vector == nullptr) return 0;
  std::uint64_t found = 0;
  ElfW(auxv_t) entry;
  while (found == 0 && fread(&entry, sizeof entry, 1, vector) == 1) {
    if (entry.a_type == AT_PHDR) found = entry.a_un.a_val;
  }
  fclose(vector);
  return found;
}

}  // namespace

std::uint64_t RecordedCallSite(std::uint64_t address) {
  dl_iterate_phdr(FindInProgram, &address);
  return address;
}

void DescribeRecordedSite(std::uint32_t os_pid, std::uint64_t site, char* text) {
  if ((site & kFromHeaders) == 0) return DescribeCallSite(os_pid, site, text);
  const std::uint32_t host = os_pid == kElsewhere ? static_cast<std::uint32_t>(getpid()) : os_pid;
  DescribeCallSite(host, (HeadersOf(host) + site) & ~kFromHeaders, text);
}

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

}  // namespace bspnow::runtime
