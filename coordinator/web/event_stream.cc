#include "coordinator/web/event_stream.h"

#include <google/protobuf/util/json_util.h>

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include <absl/strings/str_cat.h>
#include "base/version.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/output/log_line.h"

namespace bspnow::coordinator {
namespace {

/// Of a log at a time: one that is longer already takes some looks.
constexpr std::size_t kReadBytesMax = 64 << 20;
/// After a job's end, for its last figures.
constexpr int kLooksAfterEnd = 3;

std::string JsonOf(const google::protobuf::Message& message) {
  std::string json;
  const bool made = google::protobuf::util::MessageToJsonString(message, &json).ok();
  return made ? json : "{}";
}

std::string Text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ErrorJson(const absl::Status& status) {
  return Text({{"error", std::string(status.message())}});
}

std::string JobsJson(const Caller& caller, proto::ListJobsReply jobs) {
  for (proto::Job& job : *jobs.mutable_jobs()) HideFrom(caller, job);
  return JsonOf(jobs);
}

std::string NodesJson(const Caller& caller, proto::ListNodesReply nodes) {
  for (proto::Node& node : *nodes.mutable_nodes()) HideFrom(caller, node);
  return JsonOf(nodes);
}

/// The end of what there is to read now.
struct Tail {
  std::deque<proto::LogLine> lines;
  std::size_t bytes = 0;
  std::uint64_t left_out = 0;  ///< Bytes before these.
  bool ended = false;

  void Add(LogRecord record, std::size_t bytes_max) {
    bytes += record.text.size();
    lines.push_back(LineMessage(std::move(record)));
    while (bytes > bytes_max && lines.size() > 1) {
      const std::size_t first = lines.front().text().size();
      bytes -= first;
      left_out += first;
      lines.pop_front();
    }
  }
};

absl::StatusOr<Tail> ReadTail(LogReader& log, std::size_t bytes_max) {
  Tail tail;
  for (std::size_t read = 0; read < kReadBytesMax;) {
    absl::StatusOr<LogReader::Next> next = log.Read();
    if (!next.ok()) return next.status();
    if (std::holds_alternative<LogReader::Again>(*next)) {
      read += LogReader::kPassedOverBytesMax;
      continue;
    }
    if (!std::holds_alternative<LogRecord>(*next)) {
      tail.ended = std::holds_alternative<LogReader::End>(*next);
      break;
    }
    read += std::get<LogRecord>(*next).text.size();
    tail.Add(std::get<LogRecord>(*std::move(next)), bytes_max);
  }
  return tail;
}

}  // namespace

std::string EventStream::Next(const Caller& caller) {
  news_.clear();
  AddIfNew("about", Text({{"user", caller.user},
                          {"administrator", caller.May(Scope::kAdmin)},
                          {"version", kVersion}}));
  AddOverview(caller);
  if (job_ && looks_after_end_ < kLooksAfterEnd) AddJob(caller, *job_);
  if (job_ && !output_over_) AddOutput(caller, *job_);
  return std::exchange(news_, {});
}

void EventStream::Add(const std::string& event, const std::string& json) {
  absl::StrAppend(&news_, "event: ", event, "\ndata: ", json, "\n\n");
}

void EventStream::AddIfNew(const std::string& event, std::string json) {
  std::string& last = last_[event];
  if (last == json) return;
  last = std::move(json);
  Add(event, last);
}

void EventStream::AddOverview(const Caller& caller) {
  const std::shared_ptr<const Overview> overview = view_.Look();
  if (!overview) return;
  AddIfNew("nodes", NodesJson(caller, overview->nodes));
  AddIfNew("jobs", absl::StrCat("{\"running\":", JobsJson(caller, overview->running),
                                ",\"waiting\":", JobsJson(caller, overview->waiting),
                                ",\"ended\":", JobsJson(caller, overview->ended), "}"));
}

void EventStream::AddJob(const Caller& caller, JobId job) {
  const auto look = view_.LookAt(caller, job, seen_);
  if (!look) return;
  if (!look->job.ok()) {
    AddIfNew("job", ErrorJson(look->job.status()));
    return;
  }
  AddIfNew("job", JsonOf(*look->job));
  if (!look->series.empty()) Add("series", look->series);
  seen_ = look->seen;
  if (HasEnded(look->job->state())) looks_after_end_ += 1;
}

void EventStream::AddOutput(const Caller& caller, JobId job) {
  if (!caller.May(Scope::kSubmit) && !caller.May(Scope::kAdmin)) {
    output_over_ = true;
    return Add("output", ErrorJson(absl::PermissionDeniedError(
                             absl::StrCat("user ", caller.user, " may not read output"))));
  }
  if (!log_) {
    const auto opened = view_.OpenLog(caller, job);
    if (!opened) return;
    if (!opened->ok()) {
      output_over_ = true;
      return Add("output", ErrorJson(opened->status()));
    }
    log_ = **opened;
  }
  const absl::StatusOr<Tail> tail = ReadTail(*log_, kOutputBytesMax);
  if (!tail.ok()) {
    output_over_ = true;
    return Add("output", ErrorJson(tail.status()));
  }
  output_over_ = tail->ended;
  if (tail->lines.empty()) return;
  std::string lines;
  for (const proto::LogLine& line : tail->lines)
    absl::StrAppend(&lines, lines.empty() ? "" : ",", JsonOf(line));
  Add("output", absl::StrCat("{\"left_out\":", tail->left_out, ",\"lines\":[", lines, "]}"));
}

}  // namespace bspnow::coordinator
