#include "runtime/link/call_site.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/recorded_site.h"

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

// The answer of addr2line, without the directory; false if there is none. Of a place in inlined
// functions the innermost outside our headers.
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
    if (strchr(line, '?') != nullptr) continue;  // "??:0", or of a static function "heat.c:?".
    in_program = !IsInOurHeaders(line);
    line[strcspn(line, "\n")] = '\0';
    if (char* more = strstr(line, " (discriminator "); more != nullptr) *more = '\0';
    const char* slash = strrchr(line, '/');
    snprintf(text, kCallSiteTextBytes, "%.500s", slash == nullptr ? line : slash + 1);
    found = true;
  }
  pclose(answer);
  return found;
}

// As kFromHeaders, in a site that counts from where a library was loaded. 14 bits of the hash of
// its name follow, since libraries may have been loaded in another order elsewhere.
constexpr std::uint64_t kFromLibrary = std::uint64_t{1} << 62;
constexpr int kOffsetBits = 48;
constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;

bool IsIn(const dl_phdr_info& module, std::uint64_t address) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    const std::uint64_t begin = module.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz) return true;
  }
  return false;
}

// In place in a recorded call site. Without the directory, which may differ from node to node.
std::uint64_t MarkOf(const dl_phdr_info& library) {
  const char* const slash = strrchr(library.dlpi_name, '/');
  std::uint64_t hash = 0;
  for (const char* at = slash == nullptr ? library.dlpi_name : slash + 1; *at != '\0'; ++at)
    hash = hash * 31 + static_cast<unsigned char>(*at);
  return kFromLibrary | ((hash ^ hash >> 14 ^ hash >> 28) << kOffsetBits & (kFromLibrary - 1));
}

/// Makes a recorded site of an address: found in the first module, it is in the program.
struct Recording {
  std::uint64_t address;
  bool in_program = true;
};

int Record(dl_phdr_info* module, std::size_t, void* to) {
  auto& recording = *static_cast<Recording*>(to);
  const bool in_program = recording.in_program;
  recording.in_program = false;
  if (!IsIn(*module, recording.address)) return 0;
  recording.address = in_program ? (recording.address - getauxval(AT_PHDR)) | kFromHeaders
                                 : (recording.address - module->dlpi_addr) | MarkOf(*module);
  return 1;
}

/// The other way, for a site in a library; 0: this process has not loaded it.
struct Search {
  std::uint64_t site;
  std::uint64_t address = 0;
};

int FindLibrary(dl_phdr_info* module, std::size_t, void* to) {
  auto& search = *static_cast<Search*>(to);
  const std::uint64_t address = module->dlpi_addr + (search.site & kOffsetMask);
  if ((search.site & ~kOffsetMask) != MarkOf(*module) || !IsIn(*module, address)) return 0;
  search.address = address;
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
  Recording recording{.address = address};
  dl_iterate_phdr(Record, &recording);
  return recording.address;
}

void DescribeRecordedSite(std::uint32_t os_pid, std::uint64_t site, char* text) {
  if ((site & kFromHeaders) == 0 && (site & kFromLibrary) != 0) {
    Search search{.site = site};
    dl_iterate_phdr(FindLibrary, &search);
    if (search.address == 0) {
      snprintf(text, kCallSiteTextBytes, "a library+0x%llx",
               static_cast<unsigned long long>(site & kOffsetMask));
      return;
    }
    return DescribeCallSite(static_cast<std::uint32_t>(getpid()), search.address, text);
  }
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
