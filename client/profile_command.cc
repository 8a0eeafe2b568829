// profile, trace.
#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/write_all.h"
#include "client/cluster/profile_sink.h"
#include "client/commands.h"
#include "client/options/output_file.h"
#include "client/options/profile_option.h"
#include "client/profile/call_names.h"
#include "client/profile/job_profile.h"
#include "client/profile/profile_file.h"
#include "client/profile/trace_json.h"

namespace bspnow::client {
namespace {

struct ProfileOptions {
  std::uint64_t job = 0;
  std::string output{};  ///< Empty: to standard output.
  bool json = false;
  std::optional<Machine> machine{};
};

absl::StatusOr<JobProfile> Fetch(JobsStub& jobs, std::uint64_t job_id) {
  proto::ShowJobRequest show;
  show.set_job(job_id);
  const absl::StatusOr<proto::Job> job = jobs.Show(show);
  if (!job.ok()) return job.status();
  proto::ReadProfileRequest request;
  request.set_job(job_id);
  request.set_program(true);
  ProfileSink sink;
  if (const absl::Status read = jobs.ReadProfile(request, sink); !read.ok()) return read;
  if (sink.profile().of().empty())
    return absl::NotFoundError(absl::StrCat(
        "there is no profile of job ", job_id,
        ": it came to no bsp_begin, its nodes were lost, or what it left is no longer kept"));
  absl::StatusOr<JobProfile> profile = MakeJobProfile(sink.profile(), *job);
  if (profile.ok()) NameCalls(sink.program_path(), job->spec().program().name(), *profile);
  return profile;
}

absl::StatusOr<int> Put(const std::string& text, const std::string& output) {
  if (output.empty()) {
    const absl::Status written = WriteAll(STDOUT_FILENO, text, "standard output");
    return written.ok() ? absl::StatusOr<int>(0) : written;
  }
  const absl::StatusOr<UniqueFd> file = OpenOutput(output);
  if (!file.ok()) return file.status();
  const absl::Status written = WriteAll(file->get(), text, "--output " + output);
  return written.ok() ? absl::StatusOr<int>(0) : written;
}

absl::StatusOr<int> WriteProfile(JobsStub& jobs, const ProfileOptions& options) {
  const absl::StatusOr<JobProfile> profile = Fetch(jobs, options.job);
  if (!profile.ok()) return profile.status();
  const ProfileForm form = options.json             ? ProfileForm::kJson
                           : options.output.empty() ? ProfileForm::kText
                                                    : FormOf(options.output);
  const absl::StatusOr<std::string> text = ProfileText(form, *profile, options.machine);
  if (!text.ok()) return text.status();
  return Put(*text, options.output);
}

absl::StatusOr<int> WriteTrace(JobsStub& jobs, const ProfileOptions& options) {
  const absl::StatusOr<JobProfile> profile = Fetch(jobs, options.job);
  if (!profile.ok()) return profile.status();
  return Put(TraceJson(*profile), options.output);
}

}  // namespace

void AddProfileCommands(CommandLine& line) {
  CLI::App* profile = AddCommand(line, "profile", "Show where the time of an ended job went");
  const auto options = std::make_shared<ProfileOptions>();
  AddJobId(*profile, options->job);
  profile
      ->add_option("--output", options->output,
                   "Write a page, picture or JSON there [a table on standard output]")
      ->check(CheckProfileFile)
      ->type_name("FILE.html|.svg|.json");
  profile
      ->add_option_function<std::string>(
          "--predict",
          [options](const std::string& text) { options->machine = *ParseMachine(text); },
          "Predict it for a machine of p processors, each r times as fast, with g (ns a byte) and "
          "l (us)")
      ->check([](const std::string& text) {
        return std::string(ParseMachine(text).status().message());
      })
      ->type_name("p,r,g,l");
  profile->add_flag("--json", options->json, kJsonText);
  SetConnectedAction(line, profile,
                     [options](JobsStub& jobs) { return WriteProfile(jobs, *options); });

  CLI::App* trace =
      AddCommand(line, "trace", "Write an ended job's supersteps for Perfetto or chrome://tracing");
  const auto trace_options = std::make_shared<ProfileOptions>();
  AddJobId(*trace, trace_options->job);
  trace->add_option("--output", trace_options->output, "Write them there [standard output]")
      ->type_name("FILE");
  SetConnectedAction(line, trace,
                     [trace_options](JobsStub& jobs) { return WriteTrace(jobs, *trace_options); });
}

}  // namespace bspnow::client
