#include "tests/simulation/sim_oracle.h"

#include <algorithm>

namespace bspnow {
namespace {

std::string Name(const SimPlace& place) {
  return "job " + std::to_string(Value(place.job)) + " host " + std::to_string(place.host);
}

}  // namespace

void SimOracle::OnArrived(const SimPlace& place, std::uint64_t barrier) {
  if (progress_[place] != barrier) Fail(Name(place) + " skips a barrier");
  progress_[place] = barrier + 1;
}

void SimOracle::OnReleased(const SimPlace& place, std::uint64_t barrier) {
  std::uint32_t seen = 0;
  for (auto it = progress_.lower_bound({place.job, 0});
       it != progress_.end() && it->first.job == place.job; ++it) {
    seen += 1;
    if (it->second <= barrier) {
      Fail(Name(place) + " passes barrier " + std::to_string(barrier) + " before " +
           Name(it->first) + " has come to it");
    }
  }
  if (seen != participants_[place.job]) Fail(Name(place) + " passes before all have begun");
}

std::uint64_t SimOracle::OnSent(const SimPlace& to, std::uint64_t s) {
  frames_.push_back({to, s});
  under_way_[{to, s}] += 1;
  return frames_.size() - 1;
}

void SimOracle::OnTaken(const SimPlace& to, std::uint64_t s, std::uint64_t frame) {
  Frame& sent = frames_.at(frame);
  if (sent.to != to || sent.superstep != s) Fail(Name(to) + " takes a frame of another");
  if (sent.taken) Fail(Name(to) + " takes a frame twice");
  sent.taken = true;
  under_way_[{to, s}] -= 1;
  frames_taken_ += 1;
}

void SimOracle::OnSuperstepOver(const SimPlace& place, std::uint64_t s) {
  const auto missing = under_way_.find({place, s});
  if (missing != under_way_.end() && missing->second != 0) {
    Fail(Name(place) + " ends superstep " + std::to_string(s) + " without " +
         std::to_string(missing->second) + " of its frames");
  }
}

void SimOracle::OnStartOrdered(JobId job) {
  if (!started_.insert(job).second) {
    Fail("job " + std::to_string(Value(job)) + " is started twice");
  }
}

void SimOracle::OnAcknowledged(const std::string& key, JobId job) {
  const auto [known, is_new] = acknowledged_.emplace(key, job);
  if (!is_new && known->second != job) Fail("submission " + key + " became two jobs");
}

void SimOracle::OnEnded(JobId job, JobPhase phase, int exit_status) {
  if (!HasEnded(phase)) Fail("job " + std::to_string(Value(job)) + " ends without an end");
  if (!ends_.emplace(job, std::pair(phase, exit_status)).second) {
    Fail("job " + std::to_string(Value(job)) + " ends twice");
  }
}

void SimOracle::CheckTable(const JobTable& table) {
  for (const auto& [key, job] : acknowledged_) {
    const JobRecord* record = table.Find(job);
    if (record == nullptr || record->submission_key != key) {
      Fail("acknowledged job " + std::to_string(Value(job)) + " is lost");
    }
  }
  for (const auto& [job, end] : ends_) {
    const JobRecord* record = table.Find(job);
    if (record == nullptr || std::pair(record->phase, record->exit_status) != end) {
      Fail("job " + std::to_string(Value(job)) + " does not keep its end");
    }
  }
  for (const JobTable::NodeView& view : table.nodes()) {
    if (view.slots_used > view.node->slots) Fail(view.node->name + " is given more than its slots");
  }
}

bool SimOracle::AllEnded(const JobTable& table) const {
  return std::all_of(acknowledged_.begin(), acknowledged_.end(), [&](const auto& each) {
    return ends_.contains(each.second) && HasEnded(table.Find(each.second)->phase);
  });
}

std::string SimOracle::Describe(const JobTable& table) const {
  std::string text;
  for (const JobRecord* record : table.records()) {
    text += "job " + std::to_string(Value(record->id)) + " program " + record->spec + " phase " +
            std::to_string(static_cast<std::uint32_t>(record->phase)) + " \"" + record->reason +
            "\"";
    for (std::size_t host = 0; host < record->node_names.size(); ++host) {
      const auto progress = progress_.find({record->id, static_cast<std::uint32_t>(host)});
      text += ", " + record->node_names[host] + " with " +
              std::to_string(record->shares[host].pids.size()) + " has come to " +
              (progress == progress_.end() ? "no" : std::to_string(progress->second)) + " barriers";
    }
    text += "\n";
  }
  return text;
}

}  // namespace bspnow
