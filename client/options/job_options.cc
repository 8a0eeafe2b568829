#include "client/options/job_options.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>

#include "base/ids.h"
#include "client/options/array_option.h"
#include "client/options/cluster_option.h"
#include "client/options/file_option.h"
#include "client/options/foreign_words.h"
#include "client/options/output_file.h"
#include "client/options/processors.h"
#include "client/options/profile_option.h"
#include "client/options/simulate_option.h"
#include "client/options/spelling.h"
#include "client/view/quantities.h"
#include "files/whole_number.h"

namespace bspnow::client {
namespace {

constexpr std::int32_t kPriorityMax = 1'000'000;
constexpr std::int32_t kRestartsMax = 1'000'000;

// What CLI11 expects of a validator: the complaint, or nothing.
template <typename Value>
std::string Complaint(const absl::StatusOr<Value>& parsed) {
  return parsed.ok() ? std::string() : std::string(parsed.status().message());
}

// No shell can set or read a name with a blank in it; it is a slip of quoting.
std::string CheckVariable(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool is_name = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isspace(static_cast<unsigned char>(c));
  });
  return equals != std::string::npos && is_name ? "" : text + " is not NAME=VALUE";
}

std::string CheckNumberOfProcesses(const std::string& text) {
  std::uint32_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= 1 && number <= kProcessesMax) return "";
  return absl::StrCat(text, " is no number of processes; write 1 to ", kProcessesMax,
                      ", with -n or in BSP_NPROCS");
}

std::string CheckPositive(const std::string& text) {
  std::uint32_t number = 0;
  return absl::SimpleAtoi(text, &number) && number >= 1 ? ""
                                                        : text + " is no number; write 1 or more";
}

// With words of its own for what is none. CLI11 would read what begins with 0 as octal.
CLI::Validator AsNumber(std::string (*check)(const std::string& text)) {
  const auto convert = [check](std::string& text) {
    const std::string wrong = check(text);
    return wrong.empty() ? files::AsWholeNumber(files::Sign::kNone)(text) : wrong;
  };
  return CLI::Validator(convert, "");
}

std::string CheckDirectoryName(const std::string& text) {
  return text.empty() ? "a directory needs a name" : "";
}

void AddDirectoryOption(CLI::App& app, JobOptions& options, const CLI::Validator& check) {
  app.add_option("--dir", options.directory, "Run the processes in this directory")
      ->check(check)
      ->type_name("DIR");
}

void AddProcessOptions(CLI::App& app, JobOptions& options) {
  app.add_option("--env", options.environment, "Set a variable for the processes; may be repeated")
      ->check(CheckVariable)
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--core", options.core, "Let a process that is killed leave a core file");
}

CLI::Option* AddNumberOfProcesses(CLI::App& app, JobOptions& options, const std::string& text) {
  return app.add_option("-n,--np,--nprocs", options.nprocs, text)
      ->envname("BSP_NPROCS")
      ->transform(AsNumber(CheckNumberOfProcesses))
      ->type_name("P");
}

// Those that need a coordinator; FirstClusterOption finds them by their group.
constexpr char kClusterGroup[] = "On a cluster";
constexpr char kCheckpoint[] = "--checkpoint";

CLI::Option* AddClusterOption(CLI::App& app, const std::string& name, auto& variable,
                              const std::string& text) {
  return app.add_option(name, variable, text)->group(kClusterGroup);
}

void AddNodeCounts(CLI::App& app, JobOptions& options) {
  AddClusterOption(app, "--nodes", options.nodes, "Use exactly this many nodes")
      ->transform(AsNumber(CheckPositive))
      ->type_name("N");
  AddClusterOption(app, "--per-node", options.per_node, "At most this many processes on a node")
      ->transform(AsNumber(CheckPositive))
      ->type_name("N");
}

CLI::Option* AddConstraints(CLI::App& app, JobOptions& options) {
  return AddClusterOption(app, "--constraint", options.constraints,
                          "Only nodes with this label; may be repeated")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
}

void AddPlacementOptions(CLI::App& app, JobOptions& options) {
  AddNodeCounts(app, options);
  AddConstraints(app, options);
  app.add_flag("--oversubscribe", options.oversubscribe, "Allow more processes than slots")
      ->group(kClusterGroup);
}

void AddCpuOption(CLI::App& app, JobOptions& options) {
  AddClusterOption(app, "--cpu", options.cpu,
                   "Use what the node's processor has, or what those of all nodes have, so that "
                   "any can take over: native, common [native]")
      ->check(CLI::IsMember({"native", "common"}))
      ->type_name("WHICH");
}

// What the help says of an option that is not given is true of a new job; bsp alter then changes
// nothing.
enum class Usual { kTold, kNotTold };

std::string WithUsual(Usual told, const std::string& text, const std::string& usual) {
  return told == Usual::kTold ? absl::StrCat(text, " [", usual, "]") : text;
}

void AddRecoveryOptions(CLI::App& app, JobOptions& options, Usual usual) {
  const auto take_policy = [&options](const std::string& word) {
    options.checkpoint = *ParseCheckpointOption(word);
  };
  app.add_option_function<std::string>(
         kCheckpoint, take_policy,
         WithUsual(usual, "When to save the job: auto, every=N supersteps, every=30s, off", "auto"))
      ->check([](const std::string& word) { return Complaint(ParseCheckpointOption(word)); })
      ->type_name("POLICY")
      ->group(kClusterGroup);
  const auto take_restarts = [&options](std::int32_t count) {
    options.restarts_max = count == 0 ? -1 : count;
  };
  app.add_option_function<std::int32_t>(
         "--max-restarts", take_restarts,
         WithUsual(usual, "Restarts after losses without a checkpoint between", "3"))
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(0, kRestartsMax))
      ->type_name("N")
      ->group(kClusterGroup);
}

using Parse = absl::StatusOr<std::uint64_t> (*)(const std::string& word);

CLI::Option* AddQuantity(CLI::App& app, const std::string& name, std::uint64_t& variable,
                         Parse parse, const std::string& text) {
  const auto take = [&variable, parse](const std::string& word) { variable = *parse(word); };
  return app.add_option_function<std::string>(name, take, text)
      ->check([parse](const std::string& word) { return Complaint(parse(word)); })
      ->group(kClusterGroup);
}

// Those that can be changed later.
void AddWishes(CLI::App& app, JobOptions& options, Usual usual) {
  AddClusterOption(app, "--name", options.name,
                   WithUsual(usual, "The job's name in lists", "that of the program"))
      ->type_name("NAME");
  AddClusterOption(app, "--priority", options.priority,
                   WithUsual(usual, "Higher starts first", "0"))
      ->transform(files::AsWholeNumber(files::Sign::kMayBeMinus))
      ->check(CLI::Range(-kPriorityMax, kPriorityMax))
      ->type_name("N");
  AddQuantity(app, "--time-limit,--time", options.time_limit_s, ParseTimeLimit,
              "End the job after this time: 30 (minutes), 90s, 10m, 1:30:00, 2-12")
      ->type_name("TIME");
  AddQuantity(app, "--memory", options.memory_bytes, ParseMemory,
              "Memory of each process, as in 4G; a number alone is MiB")
      ->type_name("SIZE");
  AddRecoveryOptions(app, options, usual);
}

void AddSchedulingOptions(CLI::App& app, JobOptions& options) {
  AddWishes(app, options, Usual::kTold);
  AddPlacementOptions(app, options);
  AddCpuOption(app, options);
}

/// The usage line of what ends in a program, which is no option to the parser.
class ProgramFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] PROGRAM [ARGUMENT...]\n";
  }
};

void EndInProgram(CLI::App& app) {
  app.prefix_command();
  app.formatter(std::make_shared<ProgramFormatter>());
}

// Several jobs, one after the other or side by side.
void AddStepOptions(CLI::App& app, JobOptions& options) {
  const auto take_after = [&options](const std::string& text) {
    const std::vector<AfterOption> after = *ParseAfterOption(text);
    options.after.insert(options.after.end(), after.begin(), after.end());
  };
  app.add_option_function<std::string>("--after", take_after,
                                       "Start when these jobs have ended: well, or with :any "
                                       "however; may be repeated")
      ->check([](const std::string& text) { return Complaint(ParseAfterOption(text)); })
      ->type_name("JOB[:any],...")
      ->allow_extra_args(false)
      ->trigger_on_parse();
  app.add_option_function<std::string>(
         "--array",
         [&options](const std::string& text) { options.array = *ParseArrayOption(text); },
         "A job for each of these indices, as in 1-100, 0-9:3 or 1-100%4 (four at a time)")
      ->check([](const std::string& text) { return Complaint(ParseArrayOption(text)); })
      ->type_name("FIRST-LAST[:STEP][%LIMIT]");
}

std::string TakeProgram(const CLI::App& app, JobOptions& options) {
  const CLI::App* parent = app.get_parent();
  const std::string name = (parent == nullptr ? "" : parent->get_name() + " ") + app.get_name();
  options.program = app.remaining();
  const std::string second = SecondProgram(app, options.program);
  if (!options.program.empty() && options.program.front() == "--") {
    options.program.erase(options.program.begin());
  } else if (!options.program.empty() && options.program.front().front() == '-') {
    const std::string& unknown = options.program.front();
    const std::string other = CommandWith(unknown);
    const std::string meant = other.empty() ? DidYouMean(app, unknown) : "; it is " + other + "'s";
    return "unknown option " + unknown + meant + "; see " + name + " --help";
  }
  options.misplaced = MisplacedOption(app, options.program);
  if (!options.program.empty()) return second;
  return "no program given; usage: " + name + " -n P PROGRAM [ARGUMENT...]";
}

}  // namespace

std::string AdaptArguments(const CLI::App& command, int argc, char** argv) {
  static char np[] = "--np";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--" || !argument.starts_with('-')) break;
    if (argument.starts_with("--") && argument.ends_with('='))
      return absl::StrCat(argument, " has no value");
    if (argument == "-np") argv[i] = np;
    const CLI::Option* const option = command.get_option_no_throw(argv[i]);
    if (option != nullptr && option->get_expected_max() > 0) i += 1;  // Its value.
  }
  return "";
}

void AddRunOptions(CLI::App& app, JobOptions& options) {
  options.nprocs = Processors();
  AddNumberOfProcesses(app, options, "Number of processes [number of processors]");
  app.add_flag("--prefix-output", options.prefix_output, "Begin each line with its [pid]");
  app.add_flag("--timing", options.timing, "At the end, print supersteps, time, w, h, g and l");
  app.add_flag("--json", options.json, "Print --timing, as JSON");
  app.add_option("--timing-file", options.timing_file, "Write --timing there, not to stderr")
      ->type_name("FILE");
  app.add_option("--profile", options.profile_file,
                 "At the end, write there where its time went, as a page, picture or JSON")
      ->check(CheckProfileFile)
      ->type_name("FILE.html|.svg|.json");
  app.add_option("--trace", options.trace_file,
                 "At the end, write its supersteps there, for Perfetto or chrome://tracing")
      ->type_name("FILE");
  AddSimulateOption(app, options.simulation);
  AddDirectoryOption(app, options, CLI::Validator(CheckDirectoryName, ""));  // Maybe of the nodes.
  AddProcessOptions(app, options);
  AddOutputOption(app, options.output, "Write standard output there; %j is the job's id");
  AddCoordinatorOption(app, options.coordinator);
  AddTlsOption(app, options.tls_dir);
  AddSchedulingOptions(app, options);
  AddReconnectOption(app, options.reconnect_s,
                     "Keep the job this long while its coordinator is away [60s]");
  app.footer(
      "PROGRAM is a BSPlib program, compiled with bspcc. Standard input goes to pid 0. The exit\n"
      "status is that of pid 0 or of the first process that failed: 128 + signal if killed, 6 "
      "after\n"
      "bsp_abort or a wrong use of BSPlib, 126 and 127 if PROGRAM cannot be run. BSP_CHECK=full "
      "finds\n"
      "overlapping puts and memory changed under unbuffered transfers, BSP_CHECK=textual processes "
      "that\n"
      "end a superstep at different calls of bsp_sync. See bsprun(1).");
  EndInProgram(app);
}

void AddAlterOptions(CLI::App& app, JobOptions& options) {
  AddWishes(app, options, Usual::kNotTold);
  AddNodeCounts(app, options);
  CLI::Option* const constraints = AddConstraints(app, options);
  app.add_flag("--no-constraint", options.no_constraint, "Any node will do")
      ->group(kClusterGroup)
      ->excludes(constraints);
}

void AddOutputOption(CLI::App& app, std::string& output, const std::string& text) {
  app.add_option("--output", output, text)->check(CheckOutputPattern)->type_name("FILE");
}

void AddTimeoutOption(CLI::App& app, std::uint64_t& timeout_s) {
  AddQuantity(app, "--timeout", timeout_s, ParseTimeLimit,
              "Give up waiting after this time [never]: 90s, 10m, 2h")
      ->type_name("TIME");
}

void AddReconnectOption(CLI::App& app, std::uint64_t& reconnect_s, const std::string& text) {
  AddQuantity(app, "--reconnect-timeout", reconnect_s, ParseTimeLimit, text)->type_name("TIME");
}

void AddSubmitOptions(CLI::App& app, JobOptions& options) {
  AddReconnectOption(app, options.reconnect_s, "Try this long to reach the coordinator [60s]");
  AddNumberOfProcesses(app, options, "Number of processes")->required();
  AddDirectoryOption(app, options,
                     CLI::Validator(
                         [](const std::string& text) {
                           return text.starts_with('/')
                                      ? ""
                                      : text + " is relative; give the path that the nodes have";
                         },
                         ""));
  AddProcessOptions(app, options);
  app.add_option("--file", options.files, "Put this file into the job's directory; may be repeated")
      ->check([](const std::string& text) { return Complaint(ParseFileOption(text)); })
      ->type_name("[NAME=]PATH")
      ->allow_extra_args(false);
  app.add_option("--input", options.input,
                 "Standard input of process 0, also after each restart [a file after <, or none]")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  AddOutputOption(
      app, options.output,
      "For standard output, which --wait or bsp fetch writes there; %j is the job's id");
  app.add_flag("--wait", options.wait,
               "Return when all that was submitted has ended, with the worst exit status");
  AddStepOptions(app, options);
  AddSchedulingOptions(app, options);
  app.footer(
      "PROGRAM and the files travel with the job; shared libraries do not. Prints the job's id.\n"
      "See bsp(1).");
  EndInProgram(app);
}

void AddProbeOptions(CLI::App& app, JobOptions& options) {
  AddNumberOfProcesses(app, options, "Number of processes");
  AddPlacementOptions(app, options);
}

std::string SimulatesHere(const std::string& option) {
  return absl::StrCat("--simulate runs on this machine; leave ", option, " out");
}

std::string FirstClusterOption(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != kClusterGroup || option->count() == 0) continue;
    if (option->get_name() == kCheckpoint) {
      const std::string policy = option->results().back();
      if (policy == "auto" || policy == "off") continue;
    }
    return option->get_name();
  }
  return "";
}

// A program would find the first one.
std::vector<std::string> LastOfEachName(const std::vector<std::string>& variables) {
  std::vector<std::string> last;
  for (const std::string& variable : variables) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(last, [&](const std::string& earlier) { return earlier.starts_with(name); });
    last.push_back(variable);
  }
  return last;
}

std::string TakeRest(const CLI::App& app, JobOptions& options) {
  options.environment = LastOfEachName(options.environment);
  if (options.simulation && options.simulation->machine.p != 0)
    options.nprocs = options.simulation->machine.p;
  const std::string wrong = TakeProgram(app, options);
  if (!wrong.empty()) return wrong;
  const absl::StatusOr<Checks> checks = ChecksOf(options.environment);
  if (checks.ok()) options.checks = *checks;
  return Complaint(checks);
}

}  // namespace bspnow::client
