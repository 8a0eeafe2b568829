#include "coordinator/web/job_series.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

namespace bspnow::coordinator {
namespace {

/// A new report may have slightly smaller sums than the one before: that counts as no time.
std::uint64_t Beyond(std::uint64_t before, std::uint64_t now) {
  return now > before ? now - before : 0;
}

/// Of all that is in barriers, what is not the release.
std::uint64_t WaitingOf(const proto::JobTotals& totals) {
  return Beyond(totals.release_ns(), totals.wait_ns());
}

/// Of which the sums are.
std::uint64_t MeasuredOf(const proto::JobTotals& totals) {
  return Beyond(totals.unmeasured(), totals.supersteps());
}

SeriesStretch Between(const proto::JobTotals& before, const proto::JobTotals& now) {
  return {.supersteps = Beyond(MeasuredOf(before), MeasuredOf(now)),
          .compute_ns = Beyond(before.compute_ns(), now.compute_ns()),
          .waiting_ns = Beyond(WaitingOf(before), WaitingOf(now)),
          .release_ns = Beyond(before.release_ns(), now.release_ns()),
          .exchange_ns = Beyond(before.exchange_ns(), now.exchange_ns()),
          .w_ns = Beyond(before.w_ns(), now.w_ns()),
          .h_bytes = Beyond(before.h_bytes(), now.h_bytes()),
          .bytes_out = Beyond(before.bytes_out(), now.bytes_out()),
          .bytes_in = Beyond(before.bytes_in(), now.bytes_in()),
          .messages = Beyond(before.messages(), now.messages())};
}

SeriesStretch Joined(const SeriesStretch& first, const SeriesStretch& second) {
  SeriesStretch joined = first;
  joined.end_unix_ms = second.end_unix_ms;
  for (const auto member :
       {&SeriesStretch::supersteps, &SeriesStretch::compute_ns, &SeriesStretch::waiting_ns,
        &SeriesStretch::release_ns, &SeriesStretch::exchange_ns, &SeriesStretch::w_ns,
        &SeriesStretch::h_bytes, &SeriesStretch::bytes_out, &SeriesStretch::bytes_in,
        &SeriesStretch::messages})
    joined.*member += second.*member;
  return joined;
}

std::string JsonOf(const SeriesStretch& stretch) {
  return absl::StrCat("[", stretch.begin_unix_ms, ",", stretch.end_unix_ms, ",", stretch.supersteps,
                      ",",
                      absl::StrJoin({stretch.compute_ns, stretch.waiting_ns, stretch.release_ns,
                                     stretch.exchange_ns, stretch.w_ns, stretch.h_bytes,
                                     stretch.bytes_out, stretch.bytes_in, stretch.messages},
                                    ","),
                      "]");
}

std::string JsonOf(const SeriesMark& mark) {
  const bool recovery = mark.kind == SeriesMark::Kind::kRecovery;
  return absl::StrCat("[\"", recovery ? "recovery" : "checkpoint", "\",", mark.unix_ms, ",",
                      mark.superstep, "]");
}

template <typename Item>
std::string ListOf(const Item* begin, const Item* end) {
  return absl::StrCat(
      "[",
      absl::StrJoin(begin, end, ",",
                    [](std::string* out, const Item& item) { absl::StrAppend(out, JsonOf(item)); }),
      "]");
}

}  // namespace

void JobSeries::Add(std::int64_t unix_ms, Epoch epoch, const proto::JobTotals& totals) {
  const bool first = since_unix_ms_ == 0;
  const bool again = !first && epoch != epoch_;
  if (!first && !again && MeasuredOf(totals) <= MeasuredOf(totals_)) return;
  if (!first && !again) {
    SeriesStretch stretch = Between(totals_, totals);
    stretch.begin_unix_ms = since_unix_ms_;
    stretch.end_unix_ms = unix_ms;
    stretches_.push_back(stretch);
    changes_ += 1;
  }
  since_unix_ms_ = unix_ms;
  epoch_ = epoch;
  totals_ = totals;
  if (stretches_.size() < kStretchesMax) return;
  for (std::size_t i = 0; i < kStretchesMax / 2; ++i)
    stretches_[i] = Joined(stretches_[2 * i], stretches_[2 * i + 1]);
  stretches_.resize(kStretchesMax / 2);
  joins_ += 1;
}

void JobSeries::AddCheckpoint(std::uint64_t number, std::int64_t unix_ms, Superstep superstep) {
  if (number == std::exchange(checkpoint_, number)) return;
  AddMark(
      {.kind = SeriesMark::Kind::kCheckpoint, .unix_ms = unix_ms, .superstep = Value(superstep)});
}

// The list has only the last ones, and their clock may have been set back: what follows the one
// that was marked last is new, and so are all if that one is not among them.
void JobSeries::AddRecoveries(const proto::Job& job) {
  const auto& losses = job.losses();
  const auto last = std::find_if(losses.rbegin(), losses.rend(), [this](const auto& loss) {
    return loss.unix_ms() == lost_unix_ms_;
  });
  for (auto loss = last.base(); loss != losses.end(); ++loss) {
    if (!loss->resumed()) continue;
    AddMark({.kind = SeriesMark::Kind::kRecovery,
             .unix_ms = loss->unix_ms() + static_cast<std::int64_t>(loss->after_ms()),
             .superstep = loss->from_superstep()});
    lost_unix_ms_ = loss->unix_ms();
  }
}

// Of many checkpoints every other one goes: losses are few, and matter more.
void JobSeries::AddMark(SeriesMark mark) {
  marks_.push_back(mark);
  changes_ += 1;
  if (marks_.size() < kMarksMax) return;
  bool goes = false;
  std::erase_if(marks_, [&goes](const SeriesMark& each) {
    return each.kind == SeriesMark::Kind::kCheckpoint && std::exchange(goes, !goes);
  });
  if (marks_.size() >= kMarksMax) marks_.erase(marks_.begin());
}

std::string JobSeries::Since(Seen& seen) const {
  if (seen.changes == changes_) return {};
  const std::size_t from = seen.changes != 0 && seen.joins == joins_ ? seen.stretches : 0;
  seen = {.changes = changes_, .joins = joins_, .stretches = stretches_.size()};
  return absl::StrCat("{\"from\":", from, ",\"stretches\":",
                      ListOf(stretches_.data() + from, stretches_.data() + stretches_.size()),
                      ",\"marks\":", ListOf(marks_.data(), marks_.data() + marks_.size()), "}");
}

}  // namespace bspnow::coordinator
