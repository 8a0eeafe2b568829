// A profile as a page: the picture, the sums, and a table of the calls of bsp_sync. One file that
// fetches nothing.
#ifndef CLIENT_PROFILE_PROFILE_HTML_H_
#define CLIENT_PROFILE_PROFILE_HTML_H_

#include <optional>
#include <string>

#include "client/profile/cost_model.h"
#include "client/profile/job_profile.h"

namespace bspnow::client {

std::string ProfileHtml(const JobProfile& profile, const std::optional<Prediction>& prediction);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_PROFILE_HTML_H_
