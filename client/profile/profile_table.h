// A profile in words: its sums, and the calls of bsp_sync with what their supersteps cost, the most
// costly first.
#ifndef CLIENT_PROFILE_PROFILE_TABLE_H_
#define CLIENT_PROFILE_PROFILE_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "client/profile/cost_model.h"
#include "client/profile/job_profile.h"

namespace bspnow::client {

/// w / mean computing: 1 where all compute alike. 0 if nothing was computed.
double Imbalance(const SuperstepFigures& figures);

/// "w", "1.2 ms, computing of the slowest process", and so on.
struct Term {
  std::string word;
  std::string meaning;
};
/// What its groups did; of a job that has any.
std::string GroupsText(const JobProfile& profile);
std::vector<Term> SumTerms(const JobProfile& profile, const std::optional<Prediction>& prediction);

/// Of a job that was simulated, nothing was measured that could be set beside the model.
std::vector<std::string> CallHeadings(const JobProfile& profile);
std::vector<std::vector<std::string>> CallRows(const JobProfile& profile);

/// The same for calls that ended supersteps of groups; none where there were no groups.
std::vector<std::string> GroupCallHeadings(const JobProfile& profile);
std::vector<std::vector<std::string>> GroupCallRows(const JobProfile& profile);

/// The same for supersteps, of a job that was simulated: neighbours are joined where there are
/// many.
std::vector<std::string> SuperstepHeadings();
std::vector<std::vector<std::string>> SuperstepRows(const JobProfile& profile);

/// All of it, for a terminal.
std::string ProfileTable(const JobProfile& profile, const std::optional<Prediction>& prediction);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_PROFILE_TABLE_H_
