#include "worker/host/job_output.h"

namespace bspnow::worker {
namespace {

constexpr std::size_t kComplaintBytesMax = 2048;

}  // namespace

void JobOutput::AddProcess(Pid pid) {
  for (const Stream stream : {Stream::kOutput, Stream::kError}) processes_[pid].printed[stream];
}

void JobOutput::AddResumed(Pid pid, const proto::ResumedProcess& process) {
  AddProcess(pid);
  processes_[pid].hearing = process.areas_image().empty() ? Hearing::kComplaint : Hearing::kDropped;
  const auto go_on = [&](Stream stream, std::uint64_t bytes, const std::string& line) {
    Printed& printed = processes_[pid].printed[stream];
    printed.sent_bytes = bytes;
    printed.lines.Add(line);
  };
  go_on(Stream::kOutput, process.output_bytes(), process.output_line());
  go_on(Stream::kError, process.error_bytes(), process.error_line());
}

void JobOutput::OnBytes(Pid pid, Stream stream, std::string_view bytes) {
  Process& process = processes_.at(pid);
  switch (process.hearing) {
    case Hearing::kLog:
      return Send(pid, stream, process.printed[stream].lines.Add(bytes));
    case Hearing::kComplaint:
      process.complaint += bytes.substr(0, kComplaintBytesMax - process.complaint.size());
      return;
    case Hearing::kDropped:
      return;
  }
}

void JobOutput::OnEnd(Pid pid, Stream stream) {
  if (hearing(pid) == Hearing::kLog) Send(pid, stream, printed(pid, stream).lines.Finish());
}

void JobOutput::ShowPrompts() {
  for (auto& [pid, process] : processes_) {
    if (process.hearing != Hearing::kLog) continue;
    for (auto& [stream, printed] : process.printed) {
      if (printed.lines.has_partial()) Send(pid, stream, printed.lines.TakePartial());
    }
  }
}

bool JobOutput::has_prompts() const {
  for (const auto& [pid, process] : processes_) {
    for (const auto& [stream, printed] : process.printed) {
      if (printed.lines.has_partial()) return true;
    }
  }
  return false;
}

OutputCounts JobOutput::Sent(Pid pid) const {
  const auto& printed = processes_.at(pid).printed;
  return {.output_bytes = printed.at(Stream::kOutput).sent_bytes,
          .error_bytes = printed.at(Stream::kError).sent_bytes};
}

std::vector<files::UnfinishedLine> JobOutput::Unfinished() const {
  std::vector<files::UnfinishedLine> lines;
  for (const auto& [pid, process] : processes_) {
    for (const auto& [stream, printed] : process.printed) {
      if (!printed.lines.has_partial()) continue;
      lines.push_back({.pid = pid,
                       .stream = static_cast<std::uint32_t>(stream),
                       .text = std::string(printed.lines.partial())});
    }
  }
  return lines;
}

// Whole lines as far as they fit.
void JobOutput::Send(Pid pid, Stream stream, std::string_view text) {
  while (!text.empty()) {
    std::string_view part = text.substr(0, kOutputTextBytesMax);
    if (part.size() < text.size()) {
      const std::size_t newline = part.rfind('\n');
      if (newline != std::string_view::npos) part = part.substr(0, newline + 1);
    }
    SendWhole(pid, stream, part);
    text.remove_prefix(part.size());
  }
}

// In packets that the worker joins.
void JobOutput::SendWhole(Pid pid, Stream stream, std::string_view text) {
  std::uint64_t& sent_bytes = printed(pid, stream).sent_bytes;
  credit_bytes_ -= static_cast<std::int64_t>(OutputCharge(text.size()));
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kHostTextBytesMax);
    text.remove_prefix(piece.size());
    proto::WorkerEvent event;
    proto::ProcessOutput& output = *event.mutable_output();
    output.set_pid(Value(pid));
    output.set_stream(static_cast<proto::OutputStream>(stream));
    output.set_text(piece.data(), piece.size());
    output.set_offset(sent_bytes);
    output.set_goes_on(!text.empty());
    report_(std::move(event));
    sent_bytes += piece.size();
  }
}

}  // namespace bspnow::worker
