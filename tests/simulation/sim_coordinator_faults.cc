// What befalls the coordinator of a simulated cluster.
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/sim_cluster.h"

namespace bspnow {
namespace {

/// So that ids of workers are others than those of the right cluster.
constexpr std::uint64_t kStrangeTerm = 1000;

}  // namespace

void SimCluster::DisturbCoordinator() {
  if (coordinator().dead() || coordinator_comes_) return;
  if (loses_journals_ && loop_.Chance(20)) return LoseJournalWithImagesUnderWay();
  if (loses_journals_ && loop_.Chance(50) && ForgetAnEpoch()) return;
  if (loop_.Chance(8)) return HangDisk();
  if (loop_.Chance(4)) return SleepWhileItWaits();
  if (loop_.Chance(10)) {
    oracle_.Count("slow disks of coordinators");
    journal_.slow_until_ns = loop_.now_ns() + loop_.Below(5 * kSecond);
    return;
  }
  if (loop_.Chance(8)) {
    oracle_.Count("slow coordinators");
    return loop_.SlowDown(coordinator().actor(), loop_.Below(10 * kSecond), SlowEventNs());
  }
  const std::uint64_t what = loop_.Below(100);
  if (what < 50) {
    coordinator_comes_ = true;
    if (what < 35) {
      oracle_.Count("dead coordinators");
      coordinator().Die();
    } else {
      oracle_.Count("coordinators without power");
      coordinator().LosePower();
      if (what >= 45) LosePowerEverywhere();
    }
    if (loop_.Chance(20)) coordinator().DamageALog();
    return loop_.After(loop_.Below(loop_.Chance(90) ? kSecond : 8 * kSecond),
                       [this] { RestartCoordinator(); });
  }
  const std::uint64_t pause_ns = PauseNs();
  loop_.Pause(coordinator().actor(), pause_ns);
  if (what < 80) return oracle_.Count("paused coordinators");
  // Another coordinator takes its place. This one goes on after its pause without knowing that,
  // and is killed some seconds later.
  oracle_.Count("two coordinators");
  coordinator_comes_ = true;
  SimCoordinator& old = coordinator();
  loop_.After(loop_.Below(pause_ns), [this, &old] {
    old.CutConnections();
    StartCoordinator();
  });
  loop_.After(pause_ns + loop_.Below(5 * kSecond), [&old] { old.Die(); });
}

// The next one is paused when a machine that is gone is due, and has to look again for it.
void SimCluster::SleepWhileItWaits() {
  oracle_.Count("coordinators paused while they await a node");
  coordinator_comes_ = true;
  coordinator().Die();
  LoseForLong(machines_[loop_.Below(machines_.size())]);
  loop_.After(loop_.Below(kSecond), [this] {
    StartCoordinator();
    loop_.After(coordinator::kReturnNs - loop_.Below(2 * kSecond),
                [this, &started = coordinator()] {
                  loop_.Pause(started.actor(), loop_.Between(3, 8) * kSecond);
                });
  });
}

// Of the coordinator, for good: somebody starts it anew elsewhere.
void SimCluster::HangDisk() {
  if (loop_.Chance(50)) {
    oracle_.Count("journals that hang");
    coordinator().HangJournal();
  } else {
    oracle_.Count("logs that hang");
    coordinator().HangLogs();
  }
  coordinator_comes_ = true;
  const std::uint64_t most_ns = loop_.Chance(80) ? 5 * kSecond : 100 * kSecond;
  loop_.After(loop_.Below(most_ns), [this, &hung = coordinator()] {
    hung.Die();
    loop_.After(loop_.Below(kSecond), [this] { StartCoordinator(); });
  });
}

void SimCluster::KillOneOf(JobId job) {
  for (const Machine& machine : machines_)
    if (machine.worker->HasAnyOf(job) && machine.worker->KillOneProcess()) return;
}

void SimCluster::RestartCoordinator() {
  if (loses_journals_ && !copies_.empty()) {
    const std::uint64_t what = loop_.Below(100);
    if (what < 15) return StartWithoutJournal();
    if (what < 60) PutJournalBack();
  }
  StartCoordinator();
  if (loop_.Chance(15)) DieAsItStarts();
}

void SimCluster::DieAsItStarts() {
  coordinator_comes_ = true;
  loop_.After(loop_.Below(200 * kMillisecond), [this, &started = coordinator()] {
    if (!started.dead()) oracle_.Count("coordinators that die as they start");
    started.Die();
    loop_.After(loop_.Below(kSecond), [this] { RestartCoordinator(); });
  });
}

void SimCluster::ReadAgain(const SimJournal::Copy& copy) {
  oracle_.Count("journals put back");
  journal_.PutBack(copy);
  oracle_.OnPutBack(journal_.jobs);
}

// One that runs, by a copy that does not know it yet: on nodes that are cut off, or where nothing
// can be killed. If the coordinator dies once more it may give the epoch's number again.
bool SimCluster::ForgetAnEpoch() {
  const auto runs = [](const SimJournalRows& rows, JobId job, std::uint64_t epoch) {
    const auto found = rows.jobs.find(job);
    return found != rows.jobs.end() && found->second.job().epoch() >= epoch &&
           found->second.job().state() == proto::RUNNING;
  };
  for (const auto& [id, record] : journal_.jobs) {
    const std::uint64_t epoch = record.job().epoch();
    if (record.job().state() != proto::RUNNING) continue;
    for (const SimJournal::Copy& copy : copies_) {
      if (!copy.rows.jobs.contains(id) || runs(copy.rows, id, epoch)) continue;
      oracle_.Count("epochs that a journal has forgotten");
      const bool cut = loop_.Chance(50);
      for (Machine& machine : machines_) {
        if (!machine.worker->HasAnyOf(id)) continue;
        if (cut) machine.worker->CutOff(loop_.now_ns() + loop_.Between(1, 3) * kSecond);
        if (!cut) machine.worker->Jam(loop_.Between(1, 4) * kSecond);
      }
      coordinator_comes_ = true;
      coordinator().Die();
      ReadAgain(copy);
      StartCoordinator();
      if (cut || loop_.Chance(50)) return true;
      coordinator_comes_ = true;
      loop_.After(loop_.Below(kSecond), [this, again = copy] {
        coordinator().Die();
        ReadAgain(again);
        StartCoordinator();
      });
      return true;
    }
  }
  return false;
}

void SimCluster::PutJournalBack() {
  ReadAgain(copies_[loop_.Below(copies_.size())]);
  // What runs there is of an epoch, perhaps, that this journal does not know.
  if (loop_.Chance(50))
    machines_[loop_.Below(machines_.size())].worker->CutOff(loop_.now_ns() +
                                                            loop_.Below(4 * kSecond));
}

// Of jobs that are over: nobody waits for their images, disks are slow, and who might remove images
// when they come dies.
void SimCluster::LoseJournalWithImagesUnderWay() {
  std::vector<JobId> running;
  for (const JobRecord* record : coordinator().table().records())
    if (record->job().state() == proto::RUNNING) running.push_back(IdOf(*record));
  for (const JobId job : running) coordinator().Checkpoint(job);
  for (Machine& machine : machines_) {
    machine.worker->SlowDiskDown(loop_.Between(1, 6) * kSecond);
    loop_.After(kSecond / 2 + loop_.Below(5 * kSecond), [this, &machine] {
      if (machine.worker->dead()) return;
      machine.worker->Die();
      StartWorkerLater(machine);
    });
  }
  coordinator_comes_ = true;
  loop_.After(loop_.Between(20, 80) * kMillisecond, [this, running] {
    loop_.On(coordinator().actor(), 0, [running, &called = coordinator()] {
      for (const JobId job : running)
        if (!called.dead()) called.Cancel(job);
    });
  });
  loop_.After(loop_.Between(100, 300) * kMillisecond, [this] {
    coordinator().Die();
    StartWithoutJournal();
  });
}

// With an empty state directory, until somebody sees that. A shared directory that is nobody's
// would be that cluster's for good.
void SimCluster::StartWithoutJournal() {
  if (!journal_.share.empty() && shared_store_.known.cluster.empty()) return StartCoordinator();
  oracle_.Count("coordinators without their journal");
  strange_journals_.push_back(std::make_unique<SimJournal>());
  SimJournal& journal = *strange_journals_.back();
  journal.cluster = "strange " + std::to_string(strange_journals_.size());
  journal.term = kStrangeTerm;
  StartCoordinator(journal);
  coordinator_comes_ = true;
  loop_.After(loop_.Between(kSecond / 5, 5 * kSecond), [this] {
    coordinator().Die();
    RestartCoordinator();
  });
}

}  // namespace bspnow
