#include "client/profile/profile_file.h"

#include "client/profile/profile_html.h"
#include "client/profile/profile_json.h"
#include "client/profile/profile_svg.h"
#include "client/profile/profile_table.h"
#include "client/view/job_json.h"

namespace bspnow::client {

ProfileForm FormOf(const std::string& path) {
  if (path.ends_with(".svg")) return ProfileForm::kSvg;
  return path.ends_with(".json") ? ProfileForm::kJson : ProfileForm::kHtml;
}

absl::StatusOr<std::string> ProfileText(ProfileForm form, const JobProfile& profile,
                                        const std::optional<Machine>& machine) {
  std::optional<Prediction> prediction;
  if (machine) {
    const absl::StatusOr<MachinePrediction> there = PredictOn(*machine, profile);
    if (!there.ok()) return there.status();
    prediction = Prediction{.machine = *machine, .there = *there};
  }
  switch (form) {
    case ProfileForm::kText:
      return ProfileTable(profile, prediction);
    case ProfileForm::kSvg:
      return ProfileSvg(profile);
    case ProfileForm::kJson:
      return JsonText(ProfileJson(profile, prediction));
    case ProfileForm::kHtml:
      break;
  }
  return ProfileHtml(profile, prediction);
}

}  // namespace bspnow::client
