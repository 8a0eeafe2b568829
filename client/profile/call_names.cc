#include "client/profile/call_names.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <elf.h>

#include <fstream>
#include <optional>
#include <vector>

#include "client/child_output.h"
#include "client/run/program_file.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kFromHeaders = std::uint64_t{1} << 63;
constexpr std::uint16_t kHeadersMax = 256;

/// Where a program's headers are, by the addresses of its file.
std::optional<std::uint64_t> HeadersAddress(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr head{};
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head) ||
      head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > kHeadersMax)
    return std::nullopt;
  file.seekg(static_cast<std::streamoff>(head.e_phoff));
  std::optional<std::uint64_t> found;
  for (std::uint16_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return std::nullopt;
    if (part.p_type == PT_PHDR) return part.p_vaddr;
    if (part.p_type == PT_LOAD && part.p_offset <= head.e_phoff &&
        head.e_phoff - part.p_offset < part.p_filesz)
      found = part.p_vaddr + (head.e_phoff - part.p_offset);
  }
  return found;
}

// One line for each address: "/home/me/heat.c:120", maybe with " (discriminator 3)", or "??:0".
std::vector<std::string> LinesAt(const std::string& program,
                                 const std::vector<std::uint64_t>& addresses) {
  const absl::StatusOr<std::string> addr2line = FindProgram("addr2line", "");
  if (!addr2line.ok() || addresses.empty()) return {};
  std::vector<std::string> command = {*addr2line, "-e", program};
  for (const std::uint64_t address : addresses)
    command.push_back(absl::StrCat("0x", absl::Hex(address)));
  const absl::StatusOr<ChildOutput> answer = RunChild(command);
  if (!answer.ok() || answer->status != 0) return {};
  return absl::StrSplit(answer->output, '\n', absl::SkipEmpty());
}

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void NameCalls(const std::string& program, const std::string& name, JobProfile& profile) {
  const std::optional<std::uint64_t> headers = HeadersAddress(program);
  std::vector<std::uint64_t> addresses;
  std::vector<SyncCall*> asked;
  for (SyncCall& call : profile.calls) {
    call.name = call.address == kInLibrary ? "in a library" : "elsewhere";
    if ((call.address & kFromHeaders) == 0) continue;
    const std::uint64_t from_headers = call.address & ~kFromHeaders;
    // A return address may be on the next line.
    const std::uint64_t address = headers.value_or(0) + from_headers - 1;
    call.name = absl::StrCat(name, "+0x", absl::Hex(address));
    if (!headers) continue;
    addresses.push_back(address);
    asked.push_back(&call);
  }
  const std::vector<std::string> lines = LinesAt(program, addresses);
  if (lines.size() != asked.size()) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = LastPart(lines[i].substr(0, lines[i].find(" (discriminator ")));
    if (!place.starts_with('?')) asked[i]->name = place;
  }
}

}  // namespace bspnow::client
