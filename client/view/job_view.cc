#include "client/view/job_view.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <functional>

#include "client/view/checkpoint_view.h"
#include "client/view/quantities.h"
#include "client/view/timing_report.h"

namespace bspnow::client {
namespace {

constexpr std::int64_t kMsPerSecond = 1000;

Colour ColourOf(proto::NodeState state) {
  if (state == proto::NODE_UP) return Colour::kGood;
  return state == proto::NODE_LOST ? Colour::kBad : Colour::kBusy;
}

// Where it runs, and what keeps it there, or why it does not run.
std::string PlaceOrReason(const proto::Job& job) {
  std::vector<std::string> nodes;
  const bool runs = job.state() == proto::RUNNING;
  if (runs || job.reason().empty())
    for (const proto::Placement& place : job.placement()) nodes.push_back(place.node());
  std::string text = absl::StrJoin(nodes, ",");
  if (!job.reason().empty()) absl::StrAppend(&text, text.empty() ? "(" : " (", job.reason(), ")");
  return text;
}

/// As --after has it: "3,12-111:any".
std::string AfterText(const proto::JobSpec& spec) {
  std::vector<std::string> ranges;
  for (int first = 0, last = 0; first < spec.after_size(); first = ++last) {
    while (last + 1 < spec.after_size() && spec.after(last + 1).any() == spec.after(first).any() &&
           spec.after(last + 1).job() == spec.after(last).job() + 1)
      last += 1;
    ranges.push_back(absl::StrCat(spec.after(first).job()));
    if (last > first) absl::StrAppend(&ranges.back(), "-", spec.after(last).job());
    if (spec.after(first).any()) absl::StrAppend(&ranges.back(), ":any");
  }
  return absl::StrJoin(ranges, ",");
}

/// "12, of 100 elements, 4 at once".
std::string ArrayText(const proto::Job& job) {
  const proto::ArrayElement& array = job.array();
  if (!job.has_array()) return "";
  return absl::StrCat(array.job(), ", of ", array.elements(),
                      array.elements() == 1 ? " element" : " elements",
                      array.at_once() == 0 ? "" : absl::StrCat(", ", array.at_once(), " at once"));
}

std::string GibibytesText(std::uint64_t bytes) {
  return bytes == 0 ? "" : absl::StrFormat("%.1f", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace

Colour ColourOf(proto::JobState state) {
  switch (state) {
    case proto::WAITING:
    case proto::RECOVERING:
      return Colour::kBusy;
    case proto::RUNNING:
    case proto::ENDING:
      return Colour::kGood;
    case proto::FAILED:
      return Colour::kBad;
    default:
      return Colour::kFaint;
  }
}

std::string StateName(proto::JobState state) {
  if (!proto::JobState_IsValid(state)) return "unknown";
  return absl::AsciiStrToLower(proto::JobState_Name(state));
}

std::string StateName(proto::NodeState state) {
  if (!proto::NodeState_IsValid(state)) return "unknown";
  return absl::AsciiStrToLower(absl::StripPrefix(proto::NodeState_Name(state), "NODE_"));
}

std::string NameOf(const proto::Job& job) {
  if (!job.has_array()) return job.spec().name();
  return absl::StrCat(job.spec().name(), "[", job.array().index(), "]");
}

std::string ShortNameOf(const proto::Job& job) {
  constexpr std::size_t kShown = 24;  // Characters, and as many more as "..." takes.
  const std::string& name = job.spec().name();
  std::size_t characters = 0;
  std::size_t cut = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((name[i] & 0xc0) == 0x80) continue;  // Within a character of UTF-8.
    if (characters++ == kShown) cut = i;
  }
  if (characters <= kShown + 3) return NameOf(job);
  proto::Job shown;
  shown.mutable_spec()->set_name(name.substr(0, cut) + "...");
  if (job.has_array()) *shown.mutable_array() = job.array();
  return NameOf(shown);
}

AwaitedProcesses AwaitedOf(const proto::Job& job) {
  AwaitedProcesses awaited;
  for (const proto::BarrierWait& wait : job.barrier_waits()) {
    awaited.arrived += wait.arrived();
    awaited.count += wait.late_count();
    for (const proto::LateProcess& late : wait.late()) {
      awaited.shown.push_back({.pid = late.pid(),
                               .os_pid = late.os_pid(),
                               .node = wait.node(),
                               .lateness = static_cast<std::uint32_t>(late.lateness()),
                               .begun = late.begun(),
                               .messages = {.superstep = late.superstep(),
                                            .expected = late.messages_expected(),
                                            .here = late.messages_here()},
                               .for_s = wait.for_ms() / kMsPerSecond});
    }
  }
  return awaited;
}

bool HasEnded(const proto::Job& job) {
  return job.state() == proto::SUCCEEDED || job.state() == proto::FAILED ||
         job.state() == proto::CANCELLED;
}

// Older coordinators say so in the reason alone, where the job has no other.
std::string FilesLostOf(const proto::Job& job) {
  if (!job.files_lost().empty()) return job.files_lost();
  absl::string_view reason = job.reason();
  for (const char* const begin :
       {"files that it left are lost: ", "files that it left, if any, are lost: "})
    if (absl::ConsumePrefix(&reason, begin)) return std::string(reason);
  return "";
}

std::int64_t RunSeconds(const proto::Job& job) {
  return static_cast<std::int64_t>(job.run_ms()) / kMsPerSecond;
}

std::string PidsText(const std::vector<std::uint32_t>& pids) {
  std::string text;
  for (std::size_t i = 0; i < pids.size();) {
    std::size_t last = i;
    while (last + 1 < pids.size() && pids[last + 1] == pids[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ",", pids[i]);
    if (last > i) absl::StrAppend(&text, "-", pids[last]);
    i = last + 1;
  }
  return text;
}

TextTable JobTable(const std::vector<proto::Job>& jobs) {
  TextTable table({{"JOB", Align::kRight},
                   {"NAME", Align::kLeft},
                   {"USER", Align::kLeft},
                   {"STATE", Align::kLeft},
                   {"P", Align::kRight},
                   {"SUPERSTEPS", Align::kRight},
                   {"TIME", Align::kRight},
                   {"NODES (REASON)", Align::kLeft}});
  for (const proto::Job& job : jobs) {
    table.AddRow({{absl::StrCat(job.job())},
                  {ShortNameOf(job)},
                  {job.spec().user()},
                  {StateName(job.state()), ColourOf(job.state())},
                  {absl::StrCat(job.spec().nprocs())},
                  {absl::StrCat(job.totals().supersteps())},
                  {DurationText(RunSeconds(job))},
                  {PlaceOrReason(job)}});
  }
  return table;
}

TextTable NodeTable(const proto::ListNodesReply& nodes) {
  TextTable table({{"NODE", Align::kLeft},
                   {"STATE", Align::kLeft},
                   {"USED", Align::kRight},
                   {"SLOTS", Align::kRight},
                   {"LOAD", Align::kRight},
                   {"MEMORY GiB", Align::kRight},
                   {"Gflop/s", Align::kRight},
                   {"ADDRESS", Align::kLeft},
                   {"LABELS", Align::kLeft},
                   {"REASON", Align::kLeft}});
  for (const proto::Node& node : nodes.nodes()) {
    const proto::NodeSpec& spec = node.spec();
    std::vector<std::string> labels;
    for (const auto& [name, value] : spec.labels()) {
      labels.push_back(value.empty() ? name : absl::StrCat(name, "=", value));
    }
    std::sort(labels.begin(), labels.end());
    table.AddRow({{spec.name()},
                  {StateName(node.state()), ColourOf(node.state())},
                  {absl::StrCat(node.slots_used())},
                  {absl::StrCat(spec.slots())},
                  {absl::StrFormat("%.2f", node.load())},
                  {GibibytesText(spec.memory_bytes())},
                  {absl::StrFormat("%.2f", spec.flops() * 1e-9)},
                  {node.address()},
                  {absl::StrJoin(labels, ",")},
                  {node.reason()}});
  }
  return table;
}

namespace {

/// Adds a row, if there is something to say.
using AddRow = std::function<void(const std::string& what, const std::string& value)>;

/// What was asked for.
void AddRequest(const proto::Job& job, const AddRow& add) {
  const proto::JobSpec& spec = job.spec();
  add("user", spec.user());
  add("command", absl::StrJoin(spec.arguments(), " "));
  add("processes", absl::StrCat(spec.nprocs()));
  add("after", AfterText(spec));
  add("array", ArrayText(job));
  add("directory", spec.directory());
  for (const proto::FileSpec& file : spec.files()) add("file", file.name());
  if (spec.priority() != 0) add("priority", absl::StrCat(spec.priority()));
  if (spec.time_limit_s() != 0) {
    add("time limit", DurationText(static_cast<std::int64_t>(spec.time_limit_s())));
  }
  if (spec.memory_bytes() != 0) {
    add("memory", MemoryOptionText(spec.memory_bytes()) + " a process");
  }
  if (spec.nodes() != 0) add("nodes", absl::StrCat(spec.nodes()));
  if (spec.per_node() != 0) add("per node", absl::StrCat("at most ", spec.per_node()));
  add("constraints", absl::StrJoin(spec.constraints(), ", "));
  if (spec.oversubscribe()) add("oversubscribe", "yes");
  if (spec.cpu() == proto::CPU_COMMON) add("cpu", "what all nodes have in common");
}

/// How it goes.
void AddCourse(const proto::Job& job, std::int64_t now_unix_ms, const AddRow& add) {
  const auto at = [](std::int64_t unix_ms) { return unix_ms == 0 ? "" : LocalTimeText(unix_ms); };
  add("submitted", at(job.submitted_unix_ms()));
  add("started", at(job.started_unix_ms()));
  add("ended", at(job.ended_unix_ms()));
  if (job.started_unix_ms() != 0) add("time", DurationText(RunSeconds(job)));
  for (const proto::Placement& place : job.placement()) {
    add(absl::StrCat("on ", place.node()),
        "pids " + PidsText({place.pids().begin(), place.pids().end()}));
  }
  if (const AwaitedProcesses awaited = AwaitedOf(job); IsNews(awaited)) {
    for (const std::string& line : AwaitedLines(awaited)) add("waits for", line);
  }
  for (const auto& [what, value] : CheckpointLines(job, now_unix_ms)) add(what, value);
  if (job.cpu_ns() != 0) add("cpu time", NsText(static_cast<double>(job.cpu_ns())));
  if (job.peak_memory_bytes() != 0) {
    add("peak memory", MemoryText(static_cast<double>(job.peak_memory_bytes())) + " a process");
  }
  add("output", BytesText(static_cast<double>(job.output_bytes())));
  add("supersteps", absl::StrCat(job.totals().supersteps()));
}

}  // namespace

std::string JobText(const proto::Job& job, std::int64_t now_unix_ms, Colours colours) {
  TextTable table({{absl::StrCat("job ", job.job()), Align::kLeft}, {NameOf(job), Align::kLeft}});
  const AddRow add = [&table](const std::string& what, const std::string& value) {
    if (!value.empty()) table.AddRow({{what}, {value}});
  };
  table.AddRow({{"state"}, {StateName(job.state()), ColourOf(job.state())}});
  if (job.reason() != StateName(job.state())) add("reason", job.reason());
  const std::string lost = FilesLostOf(job);
  if (!absl::StrContains(job.reason(), lost)) add("files lost", lost);
  if (HasEnded(job)) add("exit status", absl::StrCat(job.exit_status()));
  AddRequest(job, add);
  AddCourse(job, now_unix_ms, add);
  const proto::JobTotals& totals = job.totals();
  return table.Text(colours) + (totals.supersteps() == 0 ? "" : CostsAsText(totals));
}

}  // namespace bspnow::client
