// The program that the user named: where it is, and whether it can be a BSP program.
#ifndef CLIENT_RUN_PROGRAM_FILE_H_
#define CLIENT_RUN_PROGRAM_FILE_H_

#include <absl/status/statusor.h>

#include <string>

namespace bspnow::client {

/// The file that `name` means: itself if it has a slash, else the first on the PATH, else the one
/// in the present directory. NotFound, with `hint` added, or PermissionDenied if it cannot be
/// executed: also if no machine like this one can, so that no node has to try.
absl::StatusOr<std::string> FindProgram(const std::string& name, const std::string& hint);

/// The launcher's exit status when the program was not found or started.
int StatusOfFailure(const absl::Status& why);

/// Whether a file is linked with libbsp. A script, what is no ELF file, or an interpreter that may
/// load it is kUnknown.
enum class Linked { kYes, kNo, kUnknown };
Linked LinkedWithLibbsp(const std::string& path);

/// "#SBATCH" or "#PBS" if it is a script with lines that give another system its options; else
/// empty. Nothing here reads these, and processes begin with a script, not steps of it.
std::string BatchLinesIn(const std::string& path);

}  // namespace bspnow::client

#endif  // CLIENT_RUN_PROGRAM_FILE_H_
