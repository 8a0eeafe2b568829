#include "tests/simulation/sim_oracle.h"

#include <algorithm>

namespace bspnow {
namespace {

std::string Name(JobId job) { return "job " + std::to_string(Value(job)); }

std::string Name(const SimPlace& place) {
  return Name(place.job) + " epoch " + std::to_string(Value(place.epoch)) + " host " +
         std::to_string(place.host);
}

}  // namespace

// ---- Supersteps ---------------------------------------------------------------------------------

void SimOracle::OnParticipants(JobId job, Epoch epoch, std::uint32_t hosts) {
  participants_[{job, epoch}] = hosts;
}

void SimOracle::OnArrived(const SimPlace& place, std::uint64_t barrier) {
  if (progress_[place] != barrier) {
    if (put_back_) return;  // Of another run of this number, which has no lease to pass it.
    Fail(Name(place) + " skips a barrier");
  }
  progress_[place] = barrier + 1;
}

void SimOracle::OnPassed(const SimPlace& place, std::uint64_t barrier) {
  OnAhead(place);
  OnOver(place, barrier);
}

void SimOracle::OnAhead(const SimPlace& place) {
  if (EpochOf(place.job) == place.epoch) return;
  Fail(Name(place) + " passes a barrier, though epoch " +
       std::to_string(Value(EpochOf(place.job))) + " has been started");
}

// Who has passed it saves nothing there, and the images of the others are of no use.
void SimOracle::OnDirected(JobId job, Epoch epoch, std::uint64_t barrier) {
  if (put_back_) return;
  for (auto it = passed_.lower_bound({job, epoch, 0});
       it != passed_.end() && it->first.job == job && it->first.epoch == epoch; ++it) {
    if (it->second > barrier)
      Fail("a checkpoint is asked for at barrier " + std::to_string(barrier) + ", which " +
           Name(it->first) + " has passed");
  }
}

void SimOracle::OnOver(const SimPlace& place, std::uint64_t barrier) {
  Count("barriers");
  passed_[place] = barrier + 1;
  std::uint32_t seen = 0;
  for (auto it = progress_.lower_bound({place.job, place.epoch, 0});
       it != progress_.end() && it->first.job == place.job && it->first.epoch == place.epoch;
       ++it) {
    seen += 1;
    if (it->second <= barrier) {
      Fail(Name(place) + " passes barrier " + std::to_string(barrier) + " before " +
           Name(it->first) + " has come to it");
    }
  }
  if (seen != participants_[{place.job, place.epoch}]) {
    Fail(Name(place) + " passes before all have begun");
  }
}

bool SimOracle::IsUnread(JobId job, Epoch epoch, std::uint64_t superstep, std::uint32_t pid,
                         std::uint32_t p) const {
  const auto found = in_sync_.find({job, epoch});
  if (put_back_) return true;  // Of two runs of one number.
  return found != in_sync_.end() && found->second.size() == p &&
         std::all_of(found->second.begin(), found->second.end(), [&](const auto& process) {
           const auto& [its_superstep, gets_from] = process.second;
           // Who is past the barrier, where a lease keeps `pid`, is answered nothing by it yet.
           return its_superstep > superstep ||
                  (its_superstep == superstep && !gets_from.contains(pid));
         });
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
  Count("frames");
}

void SimOracle::OnSuperstepOver(const SimPlace& place, std::uint64_t s) {
  const auto missing = under_way_.find({place, s});
  if (missing == under_way_.end()) return;
  if (missing->second != 0) {
    Fail(Name(place) + " ends superstep " + std::to_string(s) + " without " +
         std::to_string(missing->second) + " of its frames");
  }
  under_way_.erase(missing);
}

void SimOracle::OnState(JobId job, std::uint64_t s, std::uint32_t pid, const SimState& state) {
  const SimReference& reference = ReferenceOf(job);
  if (s < reference.states.size() && reference.states[s].at(pid) == state) return;
  Fail(Name(job) + " pid " + std::to_string(pid) + " is not what it should be at superstep " +
       std::to_string(s));
}

// ---- Checkpoints --------------------------------------------------------------------------------

void SimOracle::OnCommitted(JobId job, const Checkpoint& checkpoint) {
  Count("commits");
  Committed& committed = committed_[job];
  const std::uint64_t superstep = Value(checkpoint.superstep);
  if (superstep < committed.least) Fail(Name(job) + ": the committed superstep decreases");
  if (committed.supersteps.contains(checkpoint.number)) {
    Fail(Name(job) + ": checkpoint " + std::to_string(checkpoint.number) + " is committed twice");
  }
  committed.least = superstep;
  committed.supersteps[checkpoint.number] = superstep;
}

void SimOracle::OnWentBack(JobId job, std::uint64_t number) {
  Committed& committed = committed_[job];
  if (number != 0 && !committed.supersteps.contains(number)) {
    Fail(Name(job) + " goes back to checkpoint " + std::to_string(number) +
         ", which was not committed");
  }
  committed.least = number == 0 ? 0 : committed.supersteps[number];
}

void SimOracle::OnRestored(JobId job, std::uint64_t number, std::uint64_t superstep) {
  Count("restores");
  const Committed& committed = committed_[job];
  const auto found = committed.supersteps.find(number);
  if (found == committed.supersteps.end() || found->second != superstep) {
    Fail(Name(job) + " restores checkpoint " + std::to_string(number) + " of superstep " +
         std::to_string(superstep) + ", which was not committed");
  }
}

// ---- Jobs ---------------------------------------------------------------------------------------

void SimOracle::OnStarted(const SimPlace& place, std::uint32_t hosts, std::uint64_t now_ns) {
  std::set<std::uint32_t>& started = started_[{place.job, place.epoch}];
  started.insert(place.host);
  if (started.size() != hosts) return;
  run_.emplace(place.job, place.epoch);
  Ran& ran = ran_[place.job];
  if (!ran.since_ns) ran.since_ns = now_ns;
}

std::uint64_t SimOracle::RanAtMostNs(JobId job, std::uint64_t now_ns) const {
  const auto found = ran_.find(job);
  if (found == ran_.end()) return 0;
  return found->second.before_ns + (now_ns - found->second.since_ns.value_or(now_ns));
}

// A start may fail, and what was given to it is lost to the next one.
void SimOracle::OnInputOrdered(JobId job, Epoch epoch) {
  if (put_back_ || run_.contains({job, epoch})) return;
  Fail(Name(job) + " is sent input before its processes were started on all its nodes");
}

void SimOracle::OnStartOrdered(JobId job, Epoch epoch, const proto::JobSpec& spec,
                               std::uint64_t now_ns) {
  if (epoch <= EpochOf(job) && !put_back_) Fail(Name(job) + " is started twice");
  if (inputs_.contains(job) && !put_back_)
    Fail(Name(job) + " is started again, though pid 0 has been given input");
  ForgetEpoch(job, epoch);
  epochs_[job] = epoch;
  if (!put_back_) ran_[job] = {.before_ns = RanAtMostNs(job, now_ns)};  // Else two may run.
  const auto number = numbers_.emplace(job, spec.arguments(0));
  if (number.first->second != spec.arguments(0)) Fail(Name(job) + " was another one before");
  if (!references_.contains(job)) {
    references_[job] = std::make_unique<SimReference>(SimProgram::FromSpec(spec), spec.nprocs());
  }
}

void SimOracle::OnInput(JobId job, Epoch epoch, std::uint64_t offset, std::uint64_t end) {
  Count("pieces of input");
  auto& [of, bytes] = inputs_.try_emplace(job, epoch, 0).first->second;
  if (put_back_) return;
  if (of != epoch || offset > bytes) Fail(Name(job) + " lacks input");
  bytes = std::max(bytes, end);
}

void SimOracle::OnAcknowledged(const Submitted& submitted, JobId job) {
  const auto [known, is_new] = acknowledged_.emplace(submitted, job);
  if (!is_new && known->second != job) Fail("submission " + submitted.key + " became two jobs");
  const auto before = keys_.emplace(job, submitted).first;
  if (before->second != submitted) Fail(Name(job) + " was another one before");
}

void SimOracle::OnPutBack(const std::map<JobId, JobRecord>& jobs) {
  put_back_ = true;
  promises_.OnPutBack();
  acknowledged_.clear();
  ends_.clear();
  for (const auto& [id, record] : jobs) {
    if (const auto key = keys_.find(id); key != keys_.end()) acknowledged_[key->second] = id;
    if (HasEnded(record)) ends_[id] = EndOf(record);
  }
  for (auto& [job, committed] : committed_) committed.least = 0;
}

// Its number is given again: nothing of it may come any more.
void SimOracle::ForgetEpoch(JobId job, Epoch epoch) {
  const auto is_of_it = [&](const SimPlace& place) {
    return place.job == job && place.epoch == epoch;
  };
  std::erase_if(progress_, [&](const auto& each) { return is_of_it(each.first); });
  std::erase_if(passed_, [&](const auto& each) { return is_of_it(each.first); });
  std::erase_if(under_way_, [&](const auto& each) { return is_of_it(each.first.first); });
  participants_.erase({job, epoch});
  in_sync_.erase({job, epoch});
  started_.erase({job, epoch});
  for (Frame& frame : frames_)
    if (is_of_it(frame.to)) frame.taken = true;
}

void SimOracle::OnEnded(const JobRecord& record) {
  const JobId job = IdOf(record);
  promises_.OnEnded(record);
  if (!HasEnded(record)) Fail(Name(job) + " ends without an end");
  if (!ends_.emplace(job, EndOf(record)).second) Fail(Name(job) + " ends twice");
  // Its workers know that, whatever the coordinator that was to order it has come to.
  const bool was_ordered = Epoch{record.job().epoch()} == EpochOf(job);
  if (!put_back_ && !was_ordered && record.job().state() == proto::FAILED &&
      record.job().reason().ends_with("is back without its processes"))
    Fail(Name(job) + " fails for the loss of an epoch that nobody was ordered");
  Count("jobs ended");
  if (record.job().state() == proto::SUCCEEDED) Count("jobs succeeded");
}

void SimOracle::CheckTable(const JobTable& table) {
  for (const auto& [submitted, job] : acknowledged_) {
    const JobRecord* record = table.Find(job);
    // The first element has the key.
    const std::string key = submitted.element == 0 ? submitted.key : "";
    if (record == nullptr || record->submission_key() != key) {
      Fail("acknowledged job " + std::to_string(Value(job)) + " is lost");
    }
  }
  for (const auto& [job, end] : ends_) {
    const JobRecord* record = table.Find(job);
    if (record == nullptr || EndOf(*record) != end) Fail(Name(job) + " does not keep its end");
  }
  for (const JobTable::NodeView& view : table.nodes()) {
    if (view.slots_used > view.node->slots) Fail(view.node->name + " is given more than its slots");
  }
}

// Jobs that were acknowledged by a journal that is gone are in this one, too, perhaps: they run.
bool SimOracle::AllEnded(const JobTable& table) const {
  const auto records = table.records();
  return std::all_of(acknowledged_.begin(), acknowledged_.end(),
                     [&](const auto& each) {
                       return ends_.contains(each.second) && HasEnded(*table.Find(each.second));
                     }) &&
         std::all_of(records.begin(), records.end(),
                     [](const JobRecord* record) { return HasEnded(*record); });
}

std::string SimOracle::Describe(const JobTable& table) const {
  std::string text;
  for (const JobRecord* record : table.records()) {
    const proto::Job& job = record->job();
    text += Name(IdOf(*record)) + " epoch " + std::to_string(job.epoch()) + " " +
            coordinator::StateText(job.state()) + " \"" + job.reason() + "\"";
    for (int host = 0; host < job.placement_size(); ++host) {
      const auto progress =
          progress_.find({IdOf(*record), Epoch{job.epoch()}, static_cast<std::uint32_t>(host)});
      text += ", " + job.placement(host).node() + " with " +
              std::to_string(job.placement(host).pids_size()) + " has come to " +
              (progress == progress_.end() ? "no" : std::to_string(progress->second)) + " barriers";
    }
    text += "\n";
  }
  return text;
}

}  // namespace bspnow
