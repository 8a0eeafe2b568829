#include "client/profile/trace_json.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/profile/profile_table.h"
#include "client/view/job_json.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kSupersteps = 50'000;  // Of all tracks together.
constexpr std::size_t kColumnsMin = 100;

std::string Quoted(const std::string& text) {
  std::string line = JsonText(nlohmann::json(text));
  line.pop_back();
  return line;
}

class Trace {
 public:
  explicit Trace(const JobProfile& profile)
      : profile_(profile),
        columns_(Condense(
            profile.columns,
            std::max(kColumnsMin, kSupersteps / std::max<std::size_t>(1, profile.pids.size())))) {}

  std::string Write() {
    Name("process_name", 0, profile_.title);
    for (std::size_t i = 0; i < profile_.pids.size(); ++i) {
      const std::string node = profile_.nodes[i].empty() ? "" : " on " + profile_.nodes[i];
      Name("thread_name", profile_.pids[i], absl::StrCat("process ", profile_.pids[i], node));
      WriteTrack(i);
    }
    for (const proto::JobLoss& loss : profile_.losses)
      if (loss.resumed() && loss.from_start()) Mark(0, "began again from the start", loss.reason());
    for (const Column& column : columns_) {
      const double end_ns = column.start_ns + column.all.time_ns();
      const std::uint64_t next = column.first + column.all.supersteps;
      if (column.saved) Mark(end_ns, absl::StrCat("checkpoint after superstep ", next - 1), "");
      if (column.came_back)
        Mark(end_ns, absl::StrCat("resumed with superstep ", next), ReasonAt(column));
    }
    // Their supersteps have no records, and so no place but the end.
    if (profile_.groups.supersteps != 0)
      Mark(profile_.all.time_ns(), "left out: " + GroupsText(profile_), "");
    return absl::StrCat("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", events_, "\n]}\n");
  }

 private:
  void WriteTrack(std::size_t track) {
    double at_ns = 0;
    for (const Column& column : columns_) {
      const ProcessFigures& of = column.of[track];
      const double whole_ns = of.compute_ns + of.wait_ns + of.release_ns + of.exchange_ns;
      Span(track, at_ns, whole_ns, NameOf(column),
           absl::StrFormat("{\"first\":%d,\"supersteps\":%d,\"bytes_out\":%.0f,\"bytes_in\":%.0f,"
                           "\"messages_out\":%.0f,\"messages_in\":%.0f}",
                           column.first, column.all.supersteps, of.out_bytes, of.in_bytes,
                           of.out_messages, of.in_messages));
      for (const auto& [name, ns] :
           {std::pair("computing", of.compute_ns), std::pair("waiting", of.wait_ns),
            std::pair("release", of.release_ns), std::pair("exchange", of.exchange_ns)}) {
        if (ns > 0) Span(track, at_ns, ns, name, "{}");
        at_ns += ns;
      }
    }
  }

  std::string NameOf(const Column& column) const {
    const std::string call =
        column.call == kSeveralCalls ? "" : " " + profile_.calls[column.call].name;
    if (column.all.supersteps == 1) return absl::StrCat("superstep ", column.first, call);
    return absl::StrCat("supersteps ", column.first, "-", column.first + column.all.supersteps - 1,
                        call);
  }

  std::string ReasonAt(const Column& column) const {
    for (const proto::JobLoss& loss : profile_.losses) {
      const std::uint64_t last = loss.from_superstep() - 1;
      if (loss.resumed() && !loss.from_start() && last >= column.first &&
          last < column.first + column.all.supersteps)
        return loss.reason();
    }
    return "";
  }

  void Event(const std::string& event) {
    absl::StrAppend(&events_, events_.empty() ? "{" : ",\n{", event, "}");
  }
  void Name(const char* what, std::uint32_t tid, const std::string& name) {
    Event(
        absl::StrFormat("\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":%s}",
                        tid, what, Quoted(name)));
  }
  void Span(std::size_t track, double at_ns, double ns, const std::string& name,
            const std::string& arguments) {
    Event(absl::StrFormat(
        "\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":%s,\"args\":%s",
        profile_.pids[track], at_ns / 1e3, ns / 1e3, Quoted(name), arguments));
  }
  void Mark(double at_ns, const std::string& name, const std::string& reason) {
    Event(
        absl::StrFormat("\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":0,\"ts\":%.3f,\"name\":%s,"
                        "\"args\":{\"reason\":%s}",
                        at_ns / 1e3, Quoted(name), Quoted(reason)));
  }

  const JobProfile& profile_;
  const std::vector<Column> columns_;
  std::string events_;
};

}  // namespace

std::string TraceJson(const JobProfile& profile) { return Trace(profile).Write(); }

}  // namespace bspnow::client
