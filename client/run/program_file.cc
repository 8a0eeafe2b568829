#include "client/run/program_file.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/exit_status.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kScriptHeadBytes = 64 * 1024;  // Options stand at the beginning.

bool IsFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool CanExecute(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

bool MayLoadLibbsp(const std::string& path) {
  return absl::StartsWith(path.substr(path.find_last_of('/') + 1), "python");
}

// All zeros where the file is shorter, or cannot be read.
Elf64_Ehdr HeaderOf(const std::string& path) {
  Elf64_Ehdr header{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
  return header;
}

// The nodes' processors are like this machine's. What cannot be read is left to the kernel.
std::string WhyNotExecutable(const std::string& path) {
  const Elf64_Ehdr header = HeaderOf(path);
  const Elf64_Ehdr ours = HeaderOf("/proc/self/exe");
  if (memcmp(ours.e_ident, ELFMAG, SELFMAG) != 0) return "";
  if (memcmp(header.e_ident, "#!", 2) == 0 || access(path.c_str(), R_OK) != 0) return "";
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return "is neither a compiled program nor a script, which would begin with #! and the path of "
           "its interpreter";
  if (header.e_ident[EI_CLASS] != ours.e_ident[EI_CLASS] || header.e_machine != ours.e_machine)
    return "is compiled for another kind of processor; compile it here, with bspcc";
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return "is compiled, but not linked; link it with bspcc";
  return "";
}

absl::Status Refusal(const std::string& name, const std::string& why) {
  return absl::PermissionDeniedError(absl::StrCat("program ", name, " ", why));
}

absl::Status Missing(const std::string& name, int error, const std::string& hint) {
  const bool is_path = name.find('/') != std::string::npos;
  return absl::NotFoundError(absl::StrCat("program ", name, " not found",
                                          is_path ? ": " : "; give its path, as in ./",
                                          is_path ? strerror(error) : name, hint));
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& name, const std::string& hint) {
  if (name.empty()) return absl::NotFoundError("the program's name is empty");
  std::string found;
  if (name.find('/') != std::string::npos) {
    found = name;
  } else {
    const char* path = getenv("PATH");
    std::istringstream directories(path == nullptr ? "" : path);
    std::string directory;
    while (found.empty() && std::getline(directories, directory, ':')) {
      const std::string candidate = absl::StrCat(directory.empty() ? "." : directory, "/", name);
      if (IsFile(candidate) && CanExecute(candidate)) found = candidate;
    }
    if (found.empty()) found = absl::StrCat("./", name);
  }
  struct stat status;
  if (stat(found.c_str(), &status) != 0) {
    const int error = errno;
    if (error != EACCES) return Missing(name, error, hint);
    return Refusal(name, absl::StrCat("cannot be reached: ", strerror(error)));
  }
  if (S_ISDIR(status.st_mode)) return Refusal(name, "is a directory");
  if (!S_ISREG(status.st_mode)) return Refusal(name, "is no ordinary file");
  if (!CanExecute(found))
    return Refusal(name, "is not executable; compile it with bspcc, or chmod +x it");
  if (const std::string why = WhyNotExecutable(found); !why.empty()) return Refusal(name, why);
  return found;
}

// A static libbsp leaves a note in the program (runtime/bsp_api.cc), a shared one its name among
// the libraries needed. Both are looked for as bytes: the file is read once, after a failure.
Linked LinkedWithLibbsp(const std::string& path) {
  using std::literals::operator""sv;
  const std::string text = ReadAll(path);
  if (text.compare(0, SELFMAG, ELFMAG) != 0) return Linked::kUnknown;
  const bool note = text.find("\7\0\0\0\4\0\0\0\1\0\0\0bspnow\0"sv) != std::string::npos;
  const bool needed = text.find("\0libbsp.so"sv) != std::string::npos;
  if (note || needed) return Linked::kYes;
  // Python gets libbsp with the package bsp.
  return MayLoadLibbsp(path) ? Linked::kUnknown : Linked::kNo;
}

std::string BatchLinesIn(const std::string& path) {
  std::string text(kScriptHeadBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!absl::StartsWith(text, "#!")) return "";
  for (const char* mark : {"#SBATCH", "#PBS"})
    if (absl::StrContains(text, absl::StrCat("\n", mark, " "))) return mark;
  return "";
}

int StatusOfFailure(const absl::Status& why) {
  if (absl::IsNotFound(why)) return kNotFoundStatus;
  return absl::IsPermissionDenied(why) ? kNotExecutableStatus : kFailureStatus;
}

}  // namespace bspnow::client
