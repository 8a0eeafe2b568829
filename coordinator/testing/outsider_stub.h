// For tests: somebody who calls whatever the coordinator serves, with any token or none.
#ifndef COORDINATOR_TESTING_OUTSIDER_STUB_H_
#define COORDINATOR_TESTING_OUTSIDER_STUB_H_

#include <absl/status/status.h>

#include <map>
#include <string>

namespace bspnow::coordinator {

/// How each method of the services of clients and of workers ends, by "Jobs/SubmitJob", for a
/// request that says nothing. `token` empty: the calls bear none.
std::map<std::string, absl::Status> CallAll(const std::string& address, const std::string& token);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_TESTING_OUTSIDER_STUB_H_
