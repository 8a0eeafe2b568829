#include "net/retention.h"

#include <algorithm>

namespace bspnow {

std::uint64_t Retention::Add(RetainedFrame frame) {
  frame.sequence = ++last_added_;
  frames_.push_back(frame);
  return frame.sequence;
}

void Retention::CountSent() {
  const auto first_unsent = std::upper_bound(
      frames_.begin(), frames_.end(), sent_,
      [](std::uint64_t sent, const RetainedFrame& frame) { return sent < frame.sequence; });
  sent_frames_ = static_cast<std::size_t>(first_unsent - frames_.begin());
}

std::optional<RetainedFrame> Retention::NextToSend() const {
  if (sent_frames_ == frames_.size()) return std::nullopt;
  return frames_[sent_frames_];
}

bool Retention::Sent() {
  sent_ = frames_[sent_frames_++].sequence;
  if (sent_ <= sent_ever_) return false;
  sent_ever_ = sent_;
  return true;
}

std::optional<std::vector<RetainedFrame>> Retention::OnAck(std::uint64_t sequence) {
  if (sequence > sent_ever_) return std::nullopt;
  std::vector<RetainedFrame> acked;
  while (!frames_.empty() && frames_.front().sequence <= sequence) {
    acked.push_back(frames_.front());
    frames_.pop_front();
  }
  CountSent();
  return acked;
}

std::optional<std::vector<RetainedFrame>> Retention::OnWelcome(std::uint64_t sequence) {
  std::optional<std::vector<RetainedFrame>> acked = OnAck(sequence);
  if (!acked.has_value()) return acked;
  sent_ = sequence;
  CountSent();
  return acked;
}

template <typename Predicate>
std::vector<RetainedFrame> Retention::RemoveIf(Predicate unwanted) {
  std::vector<RetainedFrame> removed;
  std::erase_if(frames_, [&](const RetainedFrame& frame) {
    if (!unwanted(frame)) return false;
    removed.push_back(frame);
    return true;
  });
  CountSent();
  return removed;
}

std::vector<RetainedFrame> Retention::PruneTo(JobId job, Epoch epoch, GroupId group,
                                              Superstep superstep) {
  return RemoveIf([&](const RetainedFrame& frame) {
    if (frame.job != job || frame.epoch > epoch) return false;
    return frame.epoch < epoch || (frame.group == group && frame.superstep <= superstep);
  });
}

std::vector<RetainedFrame> Retention::DropGroup(JobId job, GroupId group) {
  return RemoveIf(
      [&](const RetainedFrame& frame) { return frame.job == job && frame.group == group; });
}

bool Retention::Holds(JobId job, GroupId group) const {
  return std::any_of(frames_.begin(), frames_.end(), [&](const RetainedFrame& frame) {
    return frame.job == job && frame.group == group;
  });
}

std::vector<RetainedFrame> Retention::Drop(std::uint64_t sequence) {
  return RemoveIf([&](const RetainedFrame& frame) { return frame.sequence == sequence; });
}

std::uint64_t Reception::OnHello(std::uint64_t incarnation) {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Incarnation& known) {
    return known.id == incarnation;
  });
  if (found != known_.end()) {
    std::rotate(found, found + 1, known_.end());
  } else {
    if (known_.size() == kIncarnationsMax) {
      const auto unproven = std::find_if(known_.begin(), known_.end(),
                                         [](const Incarnation& known) { return !known.proven; });
      known_.erase(unproven == known_.end() ? known_.begin() : unproven);
    }
    known_.push_back({.id = incarnation, .last = 0});
  }
  return last();
}

bool Reception::Take(std::uint64_t sequence) {
  if (known_.empty() || !IsNews(sequence)) return false;
  known_.back().last = sequence;
  return true;
}

}  // namespace bspnow
