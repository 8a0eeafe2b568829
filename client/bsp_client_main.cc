// bsp-client: what bsp and bsprun do with a coordinator. They start it in their own place and name.
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor_room.h"
#include "base/exit_status.h"
#include "base/version.h"
#include "client/commands.h"
#include "client/options/cluster_option.h"
#include "client/options/job_options.h"
#include "client/options/spelling.h"
#include "client/run/cluster_run.h"
#include "client/standard_output.h"

namespace bspnow::client {
namespace {

int Fail(const std::string& name, const std::string& message, int status) {
  std::cerr << name << ": " << message << "\n";
  return status;
}

// What was printed may be all that was asked for: success without it is none.
int Printed(StandardOutput& output, const std::string& name, int status) {
  const absl::Status written = output.Flush();
  if (written.ok()) return status;
  return Fail(name, std::string(written.message()), status != 0 ? status : kFailureStatus);
}

std::string HelpOf(const CLI::App& app) {
  const auto commands = app.get_subcommands();  // Those that were given.
  const std::string command = commands.empty() ? "" : " " + commands.front()->get_name();
  return app.get_name() + command + " --help";
}

// The first option that the parser does not know. Its own complaint may be of the word after it: of
// `bsp cancel -n sort` it says that "sort" is no job. In a command that ends with a program and its
// arguments, later words are the program's.
std::string UnknownOption(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining();
  for (const std::string& word : rest) {
    if (word == "--") break;
    if (word.starts_with('-') && word != "-") return word;
    if (app.get_prefix_command()) break;
  }
  return "";
}

// The error, with what was meant by the first word that was not expected, or where what is missing
// may be.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  if (!commands.empty()) {
    const std::vector<std::string> before = app.remaining();
    if (!before.empty() && commands.front()->get_option_no_throw(before.front()) != nullptr)
      return before.front() + " goes after " + commands.front()->get_name();
    return Explain(*commands.front(), error);
  }
  if (const std::string unknown = UnknownOption(app); !unknown.empty())
    return "unknown option " + unknown + DidYouMean(app, unknown);
  const std::string what = InOurWords(error.what());
  const std::vector<std::string> rest = app.remaining();
  if (rest.empty()) return what;
  const std::string& first = rest.front();
  const bool missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (missing && !app.get_subcommands({}).empty())
    return "no command " + first + DidYouMean(app, first);
  if (missing) {
    const std::string misplaced = MisplacedOption(app, rest);
    if (!misplaced.empty()) return what + misplaced;
  }
  // Of a wrong value the message says all.
  const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return unexpected || missing ? what + DidYouMean(app, first) : what;
}

// The word after Slurm's scontrol says more than that one.
std::string MeantBy(const CLI::App& app, char** words) {
  const std::string word = words[0];
  const std::string meant =
      word == "scontrol" && words[1] != nullptr ? DidYouMean(app, words[1]) : "";
  return meant.empty() ? DidYouMean(app, word) : meant;
}

// True if the command line was read; else `status` is the exit status.
bool Parse(CLI::App& app, int argc, char** argv, int& status) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      status = app.exit(error);
    } else {
      const std::string what = error.what();
      const bool says_where = what.find("; see ") != std::string::npos;
      status = Fail(app.get_name(),
                    says_where ? what : Explain(app, error) + "; see " + HelpOf(app), kUsageStatus);
    }
    return false;
  }
}

int RunAsBsprun(int argc, char** argv, StandardOutput& output) {
  JobOptions options;
  CLI::App app("Runs a BSP program: P processes, on this machine or on a cluster.", "bsprun");
  app.set_version_flag("--version", std::string("bsprun (bspnow) ") + kVersion);
  AddRunOptions(app, options);
  if (const std::string wrong = AdaptArguments(app, argc, argv); !wrong.empty()) {
    return Fail("bsprun", wrong, kUsageStatus);
  }
  int status = 0;
  if (!Parse(app, argc, argv, status)) return Printed(output, "bsprun", status);
  if (const std::string wrong = TakeRest(app, options); !wrong.empty()) {
    return Fail("bsprun", wrong, kUsageStatus);
  }
  if (const std::string lack = LackOfDescriptors(kDescriptorsOfClient, DescriptorLimit::kAsItIs);
      !lack.empty())
    return Fail("bsprun", lack, kFailureStatus);
  return RunOnCluster(options);
}

/// `bsp help COMMAND` is `bsp COMMAND --help`, `bsp help` and `bsp version` the options.
void AcceptWordsForOptions(int argc, char** argv) {
  static char help[] = "--help";
  static char version[] = "--version";
  if (argc > 1 && strcmp(argv[1], "version") == 0) argv[1] = version;
  if (argc < 2 || argc > 3 || strcmp(argv[1], "help") != 0) return;
  argv[1] = help;
  if (argc == 3) std::swap(argv[1], argv[2]);
}

/// Where the command is in the arguments, or argc if there is none.
int PlaceOfCommand(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') return i;
    const CLI::Option* const option = app.get_option_no_throw(argv[i]);
    if (option != nullptr && option->get_expected_max() > 0) i += 1;  // Its value.
  }
  return argc;
}

/// Of what stands where a command should: it may be the value of an option before, of another
/// program's.
std::string NoCommand(const CLI::App& app, char** argv, int place) {
  const std::string before = place > 1 ? argv[place - 1] : "";
  if (before.starts_with('-') && before.find('=') == std::string::npos &&
      app.get_option_no_throw(before) == nullptr)
    return "unknown option " + before + DidYouMean(app, before);
  return std::string("no command ") + argv[place] + MeantBy(app, argv + place);
}

/// The parser would read the variables of all commands, and refuse bsp jobs for one of bsp submit.
void ForgetVariables(CLI::App& app, const CLI::App& given) {
  for (CLI::App* const command : app.get_subcommands({})) {
    if (command == &given) continue;
    for (CLI::Option* const option : command->get_options()) option->envname("");
  }
}

/// In a command that ends with a program `--` says where that begins, and the parser takes it for
/// the end of the command. Returns how many arguments are left.
int WithoutMarker(const CLI::App& command, int argc, char** argv) {
  for (int i = 1; i < argc && argv[i][0] == '-'; ++i) {
    if (strcmp(argv[i], "--") == 0) {
      std::copy(argv + i + 1, argv + argc + 1, argv + i);  // The NULL at the end, too.
      return argc - 1;
    }
    const CLI::Option* const option = command.get_option_no_throw(argv[i]);
    if (option != nullptr && option->get_expected_max() > 0) i += 1;  // Its value.
  }
  return argc;
}

int RunAsBsp(int argc, char** argv, StandardOutput& output) {
  AcceptWordsForOptions(argc, argv);
  CLI::App app("bspnow: Bulk Synchronous Parallel programs on a network of workstations.", "bsp");
  app.set_version_flag("--version", std::string("bsp (bspnow) ") + kVersion);
  app.require_subcommand(1);
  app.footer("`bsp COMMAND --help` says more of each; see also bsp(1).");
  CommandLine line{.app = app};
  AddCoordinatorOption(app, line.coordinator);
  AddTlsOption(app, line.tls_dir);
  AddRunCommand(line);
  AddJobCommands(line);
  AddListCommands(line);
  AddCancelCommand(line);
  AddAlterCommand(line);
  AddAttachCommand(line);
  AddOutputCommands(line);
  AddNodeCommands(line);
  AddTopCommand(line);
  AddWebCommand(line);
  AddProbeCommand(line);
  AddProfileCommands(line);
  AddCertsCommand(line);
  const int place = PlaceOfCommand(app, argc, argv);
  if (place < argc) {
    if (strcmp(argv[place], "run") != 0) PrepareStandardStreams();
    const auto commands = app.get_subcommands(
        [&](const CLI::App* command) { return command->get_name() == argv[place]; });
    if (commands.empty())
      return Fail("bsp", NoCommand(app, argv, place) + "; see bsp --help", kUsageStatus);
    ForgetVariables(app, *commands.front());
    std::string wrong = AdaptArguments(app, place, argv);
    if (wrong.empty()) wrong = AdaptArguments(*commands.front(), argc - place, argv + place);
    if (!wrong.empty()) return Fail("bsp", wrong, kUsageStatus);
    if (commands.front()->get_prefix_command())
      argc = place + WithoutMarker(*commands.front(), argc - place, argv + place);
  }
  int status = 0;
  if (!Parse(app, argc, argv, status)) return Printed(output, "bsp", status);
  if (const std::string lack = LackOfDescriptors(kDescriptorsOfClient, DescriptorLimit::kAsItIs);
      !lack.empty())
    return Fail("bsp", lack, kFailureStatus);
  const absl::StatusOr<int> done = line.chosen();
  if (done.ok()) return Printed(output, "bsp", *done);
  output.Flush().IgnoreError();  // That it failed before says more.
  return Fail("bsp", std::string(done.status().message()), line.failure_status);
}

int Main(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const bool is_bsprun = strcmp(slash == nullptr ? argv[0] : slash + 1, "bsprun") == 0;
  prctl(PR_SET_NAME, is_bsprun ? "bsprun" : "bsp");  // For pkill, killall and top.
  StandardOutput output;
  return is_bsprun ? RunAsBsprun(argc, argv, output) : RunAsBsp(argc, argv, output);
}

}  // namespace
}  // namespace bspnow::client

int main(int argc, char** argv) {
  const int status = bspnow::client::Main(argc, argv);
  // Without destructors of what a thread uses that still waits for a coordinator (JobStart).
  _exit(status);
}
