// A profile as JSON, for programs: the names here are an interface, listed in bsp(1).
#ifndef CLIENT_PROFILE_PROFILE_JSON_H_
#define CLIENT_PROFILE_PROFILE_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>

#include "client/profile/cost_model.h"
#include "client/profile/job_profile.h"

namespace bspnow::client {

nlohmann::json ProfileJson(const JobProfile& profile, const std::optional<Prediction>& prediction);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_PROFILE_JSON_H_
