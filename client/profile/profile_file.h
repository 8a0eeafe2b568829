// A profile as text, in one of its forms.
#ifndef CLIENT_PROFILE_PROFILE_FILE_H_
#define CLIENT_PROFILE_PROFILE_FILE_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>

#include "client/profile/cost_model.h"
#include "client/profile/job_profile.h"

namespace bspnow::client {

enum class ProfileForm { kText, kHtml, kSvg, kJson };

/// As the file's name says, which was checked (client/options/profile_option.h).
ProfileForm FormOf(const std::string& path);

/// `machine`: to predict it for that, too; InvalidArgument if that cannot be done.
absl::StatusOr<std::string> ProfileText(ProfileForm form, const JobProfile& profile,
                                        const std::optional<Machine>& machine);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_PROFILE_FILE_H_
