#include "coordinator/core/standstills.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

namespace bspnow::coordinator {
namespace {

// What a word says comes from the memory of a job's processes, and may not hold up all jobs: pids
// of a job are below the first, and to look for who lacks whom takes no more than the second.
constexpr std::uint32_t kAllBelowMax = 1 << 16;
constexpr std::size_t kLooksMax = 1 << 20;

constexpr std::uint64_t kRoot = 0;

bool MayGoAhead(const proto::StandingMember& member) { return !member.waits_ahead_at().empty(); }
bool Waits(const proto::StandingMember& member) {
  return !member.waits_at().empty() || MayGoAhead(member);
}

/// Where processes wait: they go on once none that it lacks waits, or any of those it needs does
/// not.
struct Place {
  std::vector<std::uint32_t> waiters;
  std::vector<std::uint32_t> lacks;
  std::size_t open = 0;  ///< Of `lacks`, those that wait, too.
  bool any = false;      ///< One of `lacks` will do.
};

class Search {
 public:
  explicit Search(const std::map<std::string, proto::StandStill>& said) {
    for (const auto& [node, word] : said)
      for (const proto::StandingGroup& group : word.groups()) NoteArrivals(group);
    for (const auto& [node, word] : said)
      for (const proto::StandingGroup& group : word.groups()) AddPlaces(group);
  }

  std::vector<StuckProcess> Stuck() {
    std::deque<std::size_t> over;
    std::map<std::uint32_t, std::vector<std::size_t>> lacked_at;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      Place& place = places_[i];
      for (const std::uint32_t pid : place.lacks) {
        if (!waits_.contains(pid)) continue;
        place.open += 1;
        lacked_at[pid].push_back(i);
      }
      if (IsOver(place)) over.push_back(i);
    }
    for (; !over.empty(); over.pop_front()) {
      for (const std::uint32_t pid : places_[over.front()].waiters) {
        if (waits_.erase(pid) == 0) continue;
        for (const std::size_t i : lacked_at[pid]) {
          const bool before = IsOver(places_[i]);
          places_[i].open -= 1;
          if (!before && IsOver(places_[i])) over.push_back(i);
        }
      }
    }
    return Describe();
  }

 private:
  using Barrier = std::pair<std::uint32_t, bool>;  // Its number in a group; who may go ahead of it.

  static bool IsOver(const Place& place) {
    return place.any ? place.open < place.lacks.size() : place.open == 0;
  }

  void NoteArrivals(const proto::StandingGroup& group) {
    std::vector<std::uint32_t> here;
    for (const proto::StandingMember& member : group.here()) {
      arrived_[{group.key(), member.pid()}] = member.arrived();
      if (Waits(member)) {
        waits_[member.pid()] = MayGoAhead(member) ? member.waits_ahead_at() : member.waits_at();
      }
      here.push_back(member.pid());
    }
    if (group.key() != kRoot || here.size() > kAllBelowMax - known_) return;
    known_ += here.size();
    nodes_.push_back(std::move(here));
  }

  // Members of one node wait at one barrier, and what has been heard there is of that.
  void AddPlaces(const proto::StandingGroup& group) {
    std::map<Barrier, std::size_t> barriers;
    for (const proto::StandingMember& member : group.here()) {
      if (!Waits(member)) continue;
      if (member.any_of_size() != 0) {
        places_.push_back({.waiters = {member.pid()},
                           .lacks = {member.any_of().begin(), member.any_of().end()},
                           .any = true});
        continue;
      }
      const Barrier barrier{member.arrived(), MayGoAhead(member)};
      const auto [at, is_new] = barriers.emplace(barrier, places_.size());
      if (is_new) {
        places_.push_back(MayGoAhead(member)
                              ? AheadOf(group, member)
                              : Place{.waiters = {}, .lacks = LackedAt(group, member.arrived())});
      }
      places_[at->second].waiters.push_back(member.pid());
    }
  }

  // Who may go on ahead of a barrier: not before all processes of its own node are there, nor, if
  // they are, before those of another one. Of each node one that waits elsewhere is enough. If some
  // node is there, or not known, they go on, as far as is known.
  Place AheadOf(const proto::StandingGroup& group, const proto::StandingMember& member) const {
    Place others{.waiters = {}, .lacks = {}, .any = true};
    bool may_go_on = known_ < group.all_below();
    for (const std::vector<std::uint32_t>& node : nodes_) {
      const bool own = std::find(node.begin(), node.end(), member.pid()) != node.end();
      const auto late = std::find_if(node.begin(), node.end(), [&](std::uint32_t pid) {
        return waits_.contains(pid) && !HasCome(group, pid, member.arrived());
      });
      if (own && late != node.end()) return {.waiters = {}, .lacks = {*late}};
      if (!own && late == node.end()) may_go_on = true;
      if (!own && late != node.end()) others.lacks.push_back(*late);
    }
    return may_go_on || others.lacks.empty() ? Place() : others;
  }

  bool HasCome(const proto::StandingGroup& group, std::uint32_t pid, std::uint32_t barriers) const {
    const auto found = arrived_.find({group.key(), pid});
    return found != arrived_.end() && static_cast<std::int32_t>(found->second - barriers) >= 0;
  }

  std::vector<std::uint32_t> LackedAt(const proto::StandingGroup& group,
                                      std::uint32_t barriers) const {
    const std::set<std::uint32_t> heard(group.heard().begin(), group.heard().end());
    std::vector<std::uint32_t> lacks;
    const auto look = [&](std::uint32_t pid) {
      if (!HasCome(group, pid, barriers) && !heard.contains(pid)) lacks.push_back(pid);
    };
    for (std::uint32_t pid = 0; pid < group.all_below(); ++pid) look(pid);
    for (const std::uint32_t pid : group.members()) look(pid);
    return lacks;
  }

  std::vector<StuckProcess> Describe() const {
    std::map<std::uint32_t, StuckProcess> stuck;
    for (const Place& place : places_) {
      const auto other = std::find_if(place.lacks.begin(), place.lacks.end(),
                                      [this](std::uint32_t pid) { return waits_.contains(pid); });
      for (const std::uint32_t pid : place.waiters) {
        const auto at = waits_.find(pid);
        if (at != waits_.end() && other != place.lacks.end())
          stuck[pid] = {.pid = pid, .where = at->second, .awaits = *other};
      }
    }
    std::vector<StuckProcess> all;
    for (auto& [pid, each] : stuck) all.push_back(std::move(each));
    return all;
  }

  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> arrived_;  // By key and pid.
  std::map<std::uint32_t, std::string> waits_;                                // Where, by pid.
  std::vector<std::vector<std::uint32_t>> nodes_;  // Pids of the root group.
  std::size_t known_ = 0;
  std::vector<Place> places_;
};

/// How many members are looked up for this group: for each barrier at which some wait.
std::size_t LooksFor(const proto::StandingGroup& group) {
  std::set<std::uint32_t> barriers;
  std::set<std::uint32_t> ahead;
  auto needed = static_cast<std::size_t>(group.here_size());
  for (const proto::StandingMember& member : group.here()) {
    needed += static_cast<std::size_t>(member.any_of_size());
    if (MayGoAhead(member)) ahead.insert(member.arrived());
    if (!member.waits_at().empty() && member.any_of_size() == 0) barriers.insert(member.arrived());
  }
  return needed + ahead.size() * kAllBelowMax +
         barriers.size() * (group.all_below() + static_cast<std::size_t>(group.members_size()));
}

bool IsSound(const proto::StandStill& word) {
  std::size_t looks = 0;
  for (const proto::StandingGroup& group : word.groups()) {
    if (group.all_below() > kAllBelowMax) return false;
    looks += LooksFor(group);
  }
  return looks <= kLooksMax;
}

bool HasAny(const proto::StandStill& word, const std::vector<StuckProcess>& stuck) {
  const auto waits = [&stuck](const proto::StandingMember& member) {
    return Waits(member) &&
           std::any_of(stuck.begin(), stuck.end(),
                       [&member](const StuckProcess& each) { return each.pid == member.pid(); });
  };
  return std::any_of(word.groups().begin(), word.groups().end(), [&waits](const auto& group) {
    return std::any_of(group.here().begin(), group.here().end(), waits);
  });
}

}  // namespace

std::vector<StuckProcess> FindStuck(const std::map<std::string, proto::StandStill>& said) {
  return Search(said).Stuck();
}

Standstills::Orders Standstills::OnWord(const std::string& node, const proto::StandStill& word) {
  if (word.look() == 0) {
    if (!IsSound(word)) return {};
    said_[node] = word;
    return Ask();
  }
  const auto asked = asked_.find(node);
  if (word.look() != look_ || asked == asked_.end()) return {};
  if (word.number() != asked->second) {
    said_.erase(node);
    return Ask();
  }
  asked_.erase(asked);
  if (!asked_.empty()) return {};
  return {.ask = {}, .look = look_, .stuck = FindStuck(said_)};
}

// Those that host one that would be stuck: what others have said does not matter, since each of
// these waits for one of these.
Standstills::Orders Standstills::Ask() {
  asked_.clear();
  const std::vector<StuckProcess> stuck = FindStuck(said_);
  Orders orders;
  for (const auto& [node, word] : said_) {
    if (!HasAny(word, stuck)) continue;
    asked_[node] = word.number();
    orders.ask.push_back(node);
  }
  if (!orders.ask.empty()) orders.look = ++look_;
  return orders;
}

}  // namespace bspnow::coordinator
