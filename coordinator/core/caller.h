// Who makes a call, as it was proven, and what he may do to a job.
#ifndef COORDINATOR_CORE_CALLER_H_
#define COORDINATOR_CORE_CALLER_H_

#include <cstdint>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// What a caller may do; each is a bit.
enum class Scope : std::uint8_t {
  kRead = 1,    ///< See nodes, parameters, jobs.
  kSubmit = 2,  ///< Submit jobs, and do anything to his own.
  kAdmin = 4,   ///< Anything to all jobs and nodes.
  kJoin = 8,    ///< Be a worker.
};

using Scopes = std::uint8_t;

constexpr Scopes operator|(Scope a, Scope b) {
  return static_cast<Scopes>(static_cast<Scopes>(a) | static_cast<Scopes>(b));
}
constexpr Scopes operator|(Scopes a, Scope b) {
  return static_cast<Scopes>(a | static_cast<Scopes>(b));
}

inline constexpr Scopes kScopesOfUser = Scope::kRead | Scope::kSubmit;
inline constexpr Scopes kAllScopes = kScopesOfUser | Scope::kAdmin | Scope::kJoin;

struct Caller {
  std::string user;
  Scopes scopes = 0;

  bool May(Scope scope) const { return (scopes & static_cast<Scopes>(scope)) != 0; }
};

/// Makes the caller the owner of what he submits. PermissionDenied if it claims to be another's;
/// an administrator may submit for others.
absl::Status TakeOwnership(const Caller& caller, proto::JobSpec& spec);

/// PermissionDenied unless the job is the caller's, or he is an administrator. `owner`: an error is
/// passed on.
absl::Status CheckOwner(const Caller& caller, const absl::StatusOr<std::string>& owner,
                        std::uint64_t job);

/// Makes a request for accounting one for what the caller may have. PERMISSION_DENIED if it names
/// somebody else.
absl::Status LimitAccounting(const Caller& caller, proto::ListJobsRequest& request);

/// Takes out of a job what only its owner may see: arguments, environment, names of files,
/// reasons that hold what the program said, what it has used.
void HideFrom(const Caller& caller, proto::Job& job);

/// And out of a node what only administrators may see: why it could not start a job, which may name
/// the job's files.
void HideFrom(const Caller& caller, proto::Node& node);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CALLER_H_
