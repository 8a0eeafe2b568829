#include "client/profile/call_names.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <elf.h>

#include <fstream>
#include <optional>
#include <vector>

#include "base/recorded_site.h"
#include "client/child_output.h"
#include "client/run/program_file.h"

namespace bspnow::client {
namespace {

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

// For each address "heat.c:120", or nothing. Of a place in inlined functions the innermost outside
// our headers: "/usr/include/bsp/world.hpp:67" is no place of the program.
std::vector<std::string> PlacesOf(const std::string& program,
                                  const std::vector<std::uint64_t>& addresses) {
  const absl::StatusOr<std::string> addr2line = FindProgram("addr2line", "");
  if (!addr2line.ok() || addresses.empty()) return {};
  std::vector<std::string> command = {*addr2line, "-a", "-i", "-e", program};
  for (const std::uint64_t address : addresses)
    command.push_back(absl::StrCat("0x", absl::Hex(address)));
  const absl::StatusOr<ChildOutput> answer = RunChild(command);
  if (!answer.ok() || answer->status != 0) return {};
  // The address, then a line for each function, maybe with " (discriminator 3)". Without debug
  // information "??:0", or of a static function "heat.c:?", as all calls of that file.
  std::vector<std::string> places;
  bool in_program = false;
  const std::vector<std::string> lines = absl::StrSplit(answer->output, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    if (line.starts_with("0x")) {
      places.emplace_back();
      in_program = false;
    } else if (!places.empty() && !in_program && line.find('?') == std::string::npos) {
      in_program = !IsInOurHeaders(line.c_str());
      const std::string place = line.substr(0, line.find(" (discriminator "));
      places.back() = place.substr(place.rfind('/') + 1);
    }
  }
  return places;
}

}  // namespace

void NameCalls(const std::string& program, const std::string& name, JobProfile& profile) {
  const std::optional<std::uint64_t> headers = HeadersAddress(program);
  std::vector<std::uint64_t> addresses;
  std::vector<SyncCall*> asked;
  for (std::vector<SyncCall>* const calls : {&profile.calls, &profile.group_calls}) {
    for (SyncCall& call : *calls) {
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
  }
  const std::vector<std::string> places = PlacesOf(program, addresses);
  if (places.size() != asked.size()) return;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!places[i].empty()) asked[i]->name = places[i];
}

}  // namespace bspnow::client
