#include "client/run/local_machine.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/directory_listing.h"
#include "base/durable_file.h"
#include "base/machine_variable.h"

namespace bspnow::client {
namespace {

namespace fs = std::filesystem;

// Empty: there is none.
std::string Directory() {
  if (const char* state = getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return absl::StrCat(state, "/bspnow");
  const char* const home = getenv("HOME");
  return home == nullptr || *home != '/' ? "" : absl::StrCat(home, "/.local/state/bspnow");
}

// Machines may share a home.
std::string NamesOfThisHost() {
  char host[HOST_NAME_MAX + 1] = {};
  return absl::StrCat("probe-", gethostname(host, HOST_NAME_MAX) == 0 ? host : "", "-");
}

/// False: it is not there, or damaged.
bool Read(const fs::path& path, proto::MachineParameters& parameters) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return parameters.ParseFromString(bytes) && parameters.p() != 0;
}

proto::MachineParameters MeasuredLast(const std::string& directory) {
  proto::MachineParameters last;
  for (const std::string& name : ListDirectory(directory).names) {
    proto::MachineParameters parameters;
    if (absl::StartsWith(name, NamesOfThisHost()) && Read(fs::path(directory) / name, parameters) &&
        parameters.measured_unix_ms() > last.measured_unix_ms()) {
      last = parameters;
    }
  }
  return last;
}

}  // namespace

absl::Status KeepParameters(const proto::MachineParameters& parameters) {
  const std::string directory = Directory();
  if (directory.empty()) return absl::OkStatus();
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return absl::UnavailableError(absl::StrCat(directory, ": ", error.message()));
  absl::StatusOr<DurableFile> file = DurableFile::Create(directory);
  if (!file.ok()) return file.status();
  if (absl::Status added = file->Append(parameters.SerializeAsString()); !added.ok()) return added;
  return file->Commit(absl::StrCat(NamesOfThisHost(), parameters.p()), Durability::kCached);
}

absl::StatusOr<proto::MachineParameters> KeptParameters(std::uint32_t p) {
  proto::MachineParameters parameters;
  const std::string directory = Directory();
  if (p == 0) {
    parameters = MeasuredLast(directory);
  } else if (!directory.empty()) {  // Else it would be read from the current one.
    Read(fs::path(directory) / absl::StrCat(NamesOfThisHost(), p), parameters);
  }
  if (parameters.p() != 0 && (p == 0 || parameters.p() == p)) return parameters;
  return absl::NotFoundError(
      p == 0 ? std::string("nothing was measured on this machine yet; run `bsp probe -n P`")
             : absl::StrCat("nothing was measured on this machine with p = ", p,
                            "; run `bsp probe -n ", p, "`"));
}

std::string MachineOf(const JobOptions& options) {
  if (getenv("BSP_MACHINE") != nullptr ||
      std::any_of(options.environment.begin(), options.environment.end(), &NamesMachine))
    return "";
  if (options.simulation) {
    const Machine& machine = options.simulation->machine;
    return MachineVariable({.g_ns_per_byte = machine.g_ns_per_byte,
                            .l_ns = machine.l_ns,
                            .half_bytes = static_cast<double>(options.simulation->half_bytes),
                            .s_flops = -1});
  }
  const absl::StatusOr<proto::MachineParameters> kept = KeptParameters(options.nprocs);
  if (!kept.ok()) return "";
  return MeasuredMachineVariable({.g_ns_per_byte = kept->g_total_ns_per_byte(),
                                  .l_ns = kept->l_ns(),
                                  .half_bytes = kept->half_bytes(),
                                  .s_flops = kept->r_flops()});
}

}  // namespace bspnow::client
