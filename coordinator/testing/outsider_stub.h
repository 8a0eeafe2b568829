// For tests: somebody who calls whatever the coordinator serves, with any token or none.
#ifndef COORDINATOR_TESTING_OUTSIDER_STUB_H_
#define COORDINATOR_TESTING_OUTSIDER_STUB_H_

#include <absl/status/status.h>

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"

namespace bspnow::coordinator {

/// How each method of the services of clients and of workers ends, by "Jobs/SubmitJob", for a
/// request that says nothing. `token` empty: the calls bear none.
std::map<std::string, absl::Status> CallAll(const std::string& address, const std::string& token);

/// "CancelJob", ...: the methods for clients whose request names a job.
std::vector<std::string> MethodsOfJobs();

/// How one of these ends for a request that says only which job.
absl::Status CallOf(const std::string& address, const std::string& token, const std::string& method,
                    JobId job);

/// The same for a request that is no message at all.
std::map<std::string, absl::Status> CallAllWithNonsense(const std::string& address,
                                                        const std::string& token);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_TESTING_OUTSIDER_STUB_H_
