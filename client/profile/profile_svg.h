// A profile as a picture: the communication profile of Q&A about BSP, Figures 5 to 8, and what
// Figures 9 to 11 put below it, for each superstep: measured beside predicted, and g.
#ifndef CLIENT_PROFILE_PROFILE_SVG_H_
#define CLIENT_PROFILE_PROFILE_SVG_H_

#include <string>

#include "client/profile/job_profile.h"

namespace bspnow::client {

/// An SVG of its own, dark where that is preferred.
std::string ProfileSvg(const JobProfile& profile);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_PROFILE_SVG_H_
