#include "client/view/checkpoint_view.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "client/view/quantities.h"

namespace bspnow::client {
namespace {

using nlohmann::json;

constexpr std::int64_t kMsPerSecond = 1000;

std::string Bytes(std::uint64_t bytes) { return BytesText(static_cast<double>(bytes)); }
std::string Time(std::uint64_t ns) { return NsText(static_cast<double>(ns)); }

std::string IntervalText(const proto::Job& job) {
  const std::uint64_t interval_ns = job.checkpoints().interval_ns();
  const std::string policy = PolicyText(job.spec().checkpoints());
  if (policy != "auto" || interval_ns == 0) return policy;
  return absl::StrCat(policy, ", every ", Time(interval_ns));
}

}  // namespace

std::string PolicyText(const proto::CheckpointPolicy& policy) {
  if (policy.off()) return "off";
  if (policy.every_supersteps() != 0) return absl::StrCat("every=", policy.every_supersteps());
  if (policy.every_ms() == 0) return "auto";
  if (policy.every_ms() % kMsPerSecond != 0) return absl::StrCat("every=", policy.every_ms(), "ms");
  return absl::StrCat("every=", policy.every_ms() / kMsPerSecond, "s");
}

std::string LossText(const proto::JobLoss& loss) {
  if (!loss.resumed()) return loss.reason();
  const std::string from = loss.from_start() ? "the start" : absl::StrCat(loss.from_superstep());
  return absl::StrFormat("%s; resumed from %s in %.1f s", loss.reason(), from,
                         static_cast<double>(loss.after_ms()) / kMsPerSecond);
}

std::string CheckpointText(const proto::CheckpointStatus& status, std::int64_t now_unix_ms) {
  if (status.committed() == 0) return "";
  const std::int64_t age_ms = std::max<std::int64_t>(now_unix_ms - status.committed_unix_ms(), 0);
  // Its number is drawn anew by each start of the coordinator, and means nothing to people.
  std::string text = absl::StrCat(status.count(), " of superstep ", status.superstep(), ", ",
                                  DurationText(age_ms / kMsPerSecond), " ago");
  if (status.of_areas()) absl::StrAppend(&text, ", of registered areas");
  if (status.holders_size() > 0) {
    absl::StrAppend(&text, ", on ", absl::StrJoin(status.holders(), ", "), ", each image on ",
                    status.copies());
  }
  return text;
}

ShownLines CheckpointLines(const proto::Job& job, std::int64_t now_unix_ms) {
  const proto::CheckpointStatus& status = job.checkpoints();
  ShownLines lines = {{"checkpoints", IntervalText(job)}};
  if (status.committed() != 0) {
    lines.emplace_back("checkpoint", CheckpointText(status, now_unix_ms));
    lines.emplace_back("its images", absl::StrCat(Bytes(status.image_bytes()), ", of which ",
                                                  Bytes(status.written_bytes()), " were written"));
    lines.emplace_back("its cost", absl::StrCat(Time(status.cost_ns()), ", held the processes for ",
                                                Time(status.pause_ns())));
  }
  if (status.under_way()) lines.emplace_back("under way", "the next one");
  const std::string hindered_for =
      DurationText(static_cast<std::int64_t>(status.in_groups_ms()) / kMsPerSecond);
  if (status.in_groups() != 0) {
    lines.emplace_back("not saved",
                       absl::StrCat("waits for a barrier of the root group: ", status.in_groups(),
                                    " processes have had groups open for ", hindered_for));
  } else if (status.in_calls()) {
    lines.emplace_back(
        "not saved", absl::StrCat("waits for a bsp_sync with no group open: areas are not saved in"
                                  " collective calls, and there was nothing else for ",
                                  hindered_for));
  }
  if (status.given_up() != 0) {
    lines.emplace_back("given up",
                       absl::StrCat(status.given_up(), ", the last: ", status.last_failure()));
  }
  if (job.restarts() != 0) lines.emplace_back("restarts", absl::StrCat(job.restarts()));
  for (const proto::JobLoss& loss : job.losses()) {
    lines.emplace_back("loss", absl::StrCat(LocalTimeText(loss.unix_ms()), " ", LossText(loss)));
  }
  return lines;
}

json CheckpointsJson(const proto::CheckpointStatus& status) {
  json holders = json::array();
  for (const std::string& holder : status.holders()) holders.push_back(holder);
  return {
      {"committed", status.committed()},
      {"superstep", status.superstep()},
      {"committed_unix_ms", status.committed() == 0 ? json() : json(status.committed_unix_ms())},
      {"image_bytes", status.image_bytes()},
      {"written_bytes", status.written_bytes()},
      {"pause_ns", status.pause_ns()},
      {"cost_ns", status.cost_ns()},
      {"interval_ns", status.interval_ns()},
      {"count", status.count()},
      {"given_up", status.given_up()},
      {"last_failure", status.last_failure()},
      {"under_way", status.under_way()},
      {"of_areas", status.of_areas()},
      {"in_groups", status.in_groups()},
      {"in_groups_ms", status.in_groups_ms()},
      {"in_calls", status.in_calls()},
      {"holders", holders},
      {"copies", status.copies()}};
}

json LossesJson(const proto::Job& job) {
  json losses = json::array();
  for (const proto::JobLoss& loss : job.losses()) {
    losses.push_back({{"unix_ms", loss.unix_ms()},
                      {"reason", loss.reason()},
                      {"superstep", loss.superstep()},
                      {"resumed", loss.resumed()},
                      {"from_start", loss.from_start()},
                      {"from_superstep", loss.from_superstep()},
                      {"after_ms", loss.resumed() ? json(loss.after_ms()) : json()}});
  }
  return losses;
}

}  // namespace bspnow::client
