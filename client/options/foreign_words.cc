#include "client/options/foreign_words.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace bspnow::client {
namespace {

struct ForeignWord {
  std::string_view theirs;
  std::string_view ours;
};

// Some mean one thing in a list and another of a job: the first that the command has is meant.
constexpr ForeignWord kWords[] = {
    // Commands.
    {"sbatch", "submit"},
    {"qsub", "submit"},
    {"bsub", "submit"},
    {"srun", "run"},
    {"mpirun", "run"},
    {"mpiexec", "run"},
    {"squeue", "jobs"},
    {"qstat", "jobs"},
    {"bjobs", "jobs"},
    {"queue", "jobs"},
    {"list", "jobs"},
    {"ls", "jobs"},
    {"ps", "jobs"},
    {"scancel", "cancel"},
    {"qdel", "cancel"},
    {"bkill", "cancel"},
    {"kill", "cancel"},
    {"stop", "cancel"},
    {"rm", "cancel"},
    {"delete", "cancel"},
    {"sinfo", "nodes"},
    {"hosts", "nodes"},
    {"workers", "nodes"},
    {"sacct", "history"},
    {"sstat", "show"},
    {"seff", "show"},
    {"status", "show"},
    {"info", "show"},
    {"scontrol", "show"},
    {"update", "alter"},
    {"sattach", "attach"},
    {"hold", "suspend"},
    {"release", "resume"},
    {"output", "logs"},
    {"cat", "logs"},
    {"tail", "logs"},
    // Options.
    {"--ntasks", "-n"},
    {"-N", "--nodes"},
    {"--ntasks-per-node", "--per-node"},
    {"--npernode", "--per-node"},
    {"-ppn", "--per-node"},
    {"--map-by", "--per-node"},
    {"-H", "--constraint"},
    {"--host", "--constraint"},
    {"--hostfile", "--nodes"},
    {"-machinefile", "--nodes"},
    {"--machinefile", "--nodes"},
    {"-w", "--constraint"},
    {"--nodelist", "--constraint"},
    {"-C", "--constraint"},
    {"-p", "--constraint"},
    {"--partition", "--constraint"},
    {"-t", "--time-limit"},
    {"-t", "--state"},
    {"-s", "--state"},
    {"--states", "--state"},
    {"-S", "--since"},
    {"--starttime", "--since"},
    {"--timeout", "--time-limit"},
    {"--mem", "--memory"},
    {"--mem-per-cpu", "--memory"},
    {"-J", "--name"},
    {"-n", "--name"},
    {"--job-name", "--name"},
    {"--jobname", "--name"},
    {"-d", "--after"},
    {"--dependency", "--after"},
    {"-a", "--array"},
    {"-i", "--input"},
    {"-o", "--output"},
    {"--export", "--env"},
    {"-x", "--env"},
    {"-genv", "--env"},
    {"-D", "--dir"},
    {"--chdir", "--dir"},
    {"-wd", "--dir"},
    {"-wdir", "--dir"},
    {"--wdir", "--dir"},
    {"-O", "--oversubscribe"},
    {"--overcommit", "--oversubscribe"},
    {"--nice", "--priority"},
    {"--requeue", "--max-restarts"},
    {"--no-requeue", "--max-restarts"},
    {"-W", "--wait"},
    {"-l", "--prefix-output"},
    {"--label", "--prefix-output"},
    {"-tag-output", "--prefix-output"},
    {"--tag-output", "--prefix-output"},
    {"-P", "--csv"},
    {"--parsable2", "--csv"},
};

// What one of the two commands has that start a program, and the other has not.
constexpr ForeignWord kOptionsOfOne[] = {
    {"--after", "bsp submit"},   {"--array", "bsp submit"}, {"--file", "bsp submit"},
    {"--input", "bsp submit"},   {"--wait", "bsp submit"},  {"--prefix-output", "bsprun"},
    {"--profile", "bsprun"},     {"--simulate", "bsprun"},  {"--timing", "bsprun"},
    {"--timing-file", "bsprun"}, {"--trace", "bsprun"},
};

constexpr std::string_view kNotNeeded = "it is not needed here";
constexpr std::string_view kNothingLikeIt = "there is nothing like it here";

// What has no word of ours; a reader of another system's manual types it all the same.
constexpr ForeignWord kWithout[] = {
    {"--allow-run-as-root", kNotNeeded},
    {"--bind-to", kNotNeeded},
    {"-bind-to", kNotNeeded},
    {"--cpu-bind", kNotNeeded},
    {"--rank-by", kNotNeeded},
    {"--report-bindings", kNotNeeded},
    {"--use-hwthread-cpus", kNotNeeded},
    {"--mca", kNotNeeded},
    {"-mca", kNotNeeded},
    {"--mpi", kNotNeeded},
    {"--parsable", kNotNeeded},
    {"-A", kNothingLikeIt},
    {"--account", kNothingLikeIt},
    {"-q", kNothingLikeIt},
    {"--qos", kNothingLikeIt},
    {"--gres", kNothingLikeIt},
    {"--exclusive", kNothingLikeIt},
    {"--mail-type", kNothingLikeIt},
    {"--begin", kNothingLikeIt},
    {"--hold", kNothingLikeIt},
    {"--wrap", "there is nothing like it here: the program is given as it is"},
    {"--pty", kNothingLikeIt},
    {"salloc", "there is none: `bsprun` as often as you like"},
    {"-e", "standard error is apart: `bsp logs` has both, of `bsprun` it is 2> FILE"},
    {"--error", "standard error is apart: `bsp logs` has both, of `bsprun` it is 2> FILE"},
};

std::string NameIn(const std::string& word) {
  return word.starts_with('-') ? word.substr(0, word.find('=')) : word;
}

bool Has(const CLI::App& app, const std::string& ours) {
  if (ours.starts_with('-')) return app.get_option_no_throw(ours) != nullptr;
  return !app.get_subcommands([&](const CLI::App* command) { return command->check_name(ours); })
              .empty();
}

}  // namespace

std::string OurWordFor(const CLI::App& app, const std::string& word) {
  const std::string name = NameIn(word);
  const auto* const found =
      std::find_if(std::begin(kWords), std::end(kWords), [&](const ForeignWord& foreign) {
        return foreign.theirs == name && Has(app, std::string(foreign.ours));
      });
  return found == std::end(kWords) ? "" : std::string(found->ours);
}

std::string WhyWithout(const std::string& word) {
  const std::string name = NameIn(word);
  for (const ForeignWord& one : kWithout)
    if (one.theirs == name) return std::string(one.ours);
  return "";
}

std::string CommandWith(const std::string& option) {
  const std::string name = NameIn(option);
  for (const ForeignWord& one : kOptionsOfOne)
    if (one.theirs == name) return std::string(one.ours);
  return "";
}

}  // namespace bspnow::client
