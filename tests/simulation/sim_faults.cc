// What befalls a simulated cluster.
#include <iterator>
#include <utility>

#include "tests/simulation/sim_cluster.h"

namespace bspnow {
namespace {

/// A job that is to leave such a node has to give it up.
constexpr std::uint64_t kJammedNs = coordinator::kClearNs + 150 * kSecond;
/// Of two machines whose clocks are being set right, one each way, by what NTP daemons do at most.
constexpr std::uint64_t kDriftPpm = 2 * 83'333;
constexpr std::int64_t kMsPerHour = 3'600'000;
constexpr std::uint64_t kHoursMax = 30;  // That somebody sets a clock on or back.

}  // namespace

// Short as a rule.
std::uint64_t SimCluster::PauseNs() {
  const std::uint64_t most_ns = loop_.Chance(70) ? kSecond : 15 * kSecond;
  return loop_.Between(kSecond / 5, most_ns);
}

// What an event takes at most where all is slow.
std::uint64_t SimCluster::SlowEventNs() {
  constexpr std::uint64_t kEventsNs[] = {kMillisecond, 10 * kMillisecond, 100 * kMillisecond};
  return kEventsNs[loop_.Below(std::size(kEventsNs))];
}

// The coordinator's is true time: what counts is how much they differ.
void SimCluster::SetClockRates() {
  oracle_.Count("clocks of machines that go at other rates");
  for (Machine& machine : machines_)
    machine.drift_ppm =
        static_cast<SimDrift>(loop_.Below(2 * kDriftPpm + 1)) - static_cast<SimDrift>(kDriftPpm);
}

void SimCluster::PlanFaults() {
  loop_.After(loop_.Below(300 * kMillisecond), [this] {
    if (loop_.now_ns() >= calm_from_ns_) return;
    Disturb();
    PlanFaults();
  });
}

void SimCluster::PlanLaneFaults() {
  loop_.After(loop_.Below(kSecond / 2), [this] {
    if (loop_.now_ns() >= calm_from_ns_) return;
    lanes_.Disturb();
    PlanLaneFaults();
  });
}

void SimCluster::Disturb() {
  oracle_.Count("disturbances");
  if (loses_journals_ && loop_.Chance(60)) copies_.push_back(journal_.TakeCopy());
  if (loop_.Chance(3)) {
    oracle_.Count("clocks set");
    const auto hours = static_cast<std::int64_t>(loop_.Between(1, kHoursMax));
    journal_.clock_ms += (loop_.Chance(50) ? hours : -hours) * kMsPerHour;
  }
  if (journal_.fails && loop_.Chance(5)) {
    oracle_.Count("journals that are full for a while");
    journal_.full_until_ns = loop_.now_ns() + loop_.Below(5 * kSecond);
  }
  // A disk that fails loses ends, too: with a restart they would be others.
  if (!journal_.fails && loop_.Chance(loses_journals_ ? 25 : 8)) return DisturbCoordinator();
  Machine& machine = machines_[loop_.Below(machines_.size())];
  if (loop_.Chance(20)) machine.older = *machine.store;
  if (loop_.Chance(3)) return RegisterNamesake(machine.name);
  if (loop_.Chance(2)) return ForgetNode(machine.name);
  loop_.Chance(10) ? DrainForAWhile(machine.name) : DisturbWorker(machine);
}

void SimCluster::RegisterNamesake(const std::string& node) {
  loop_.On(coordinator().actor(), 0, [node, &called = coordinator()] {
    if (!called.dead() && !called.superseded()) called.RegisterNamesake(node);
  });
}

void SimCluster::ForgetNode(const std::string& node) {
  loop_.On(coordinator().actor(), 0, [node, &called = coordinator()] {
    if (!called.dead()) called.ForgetNode(node);
  });
}

void SimCluster::DrainForAWhile(const std::string& node) {
  for (const std::uint64_t after_ns : {std::uint64_t{0}, loop_.Between(1, 20) * kSecond / 10}) {
    loop_.After(after_ns, [this, node, after_ns] {
      loop_.On(coordinator().actor(), 0, [node, after_ns, &called = coordinator()] {
        if (!called.dead())
          called.SetDrained(node, after_ns == 0 ? Drain::kDrain : Drain::kUndrain);
      });
    });
  }
}

void SimCluster::LosePowerEverywhere() {
  oracle_.Count("sites without power");
  for (Machine& machine : machines_) LosePower(machine);
}

void SimCluster::DisturbWorker(Machine& machine) {
  SimWorker& worker = *machine.worker;
  if (worker.dead()) return;
  if (loop_.Chance(15)) return lanes_.Disturb();
  if (loop_.Chance(5)) return LoseAHolder(machine);
  const std::uint64_t what = loop_.Below(100);
  if (what < 14) return worker.streams().BreakOne();
  if (what < 17) return CutApart(machine, machines_[loop_.Below(machines_.size())]);
  if (what < 20) return HalveAStream(worker.streams());
  if (what < 30) return worker.streams().GiveOneUp();
  if (what < 40) return worker.BreakFrames();
  if (what < 41) {
    oracle_.Count("ways on which no order passes");
    return worker.LoseOrders(loop_.Below(60 * kSecond));
  }
  if (what < 42) return worker.Move();
  if (what < 47) return loop_.Chance(50) ? worker.BreakControl() : worker.HalveAStream();
  if (what < 52) {
    oracle_.Count("cuts");
    return worker.CutOff(loop_.now_ns() + loop_.Below(4 * kSecond));
  }
  if (what < 58) {
    oracle_.Count("cuts of one direction");
    return worker.StallOneWay(loop_.Chance(50) ? SimLink::kCaller : SimLink::kCalled, PauseNs());
  }
  if (what < 68) return PauseSomebody(machine);
  if (what < 80) {
    if (worker.KillOneProcess()) oracle_.Count("dead processes");
    return;
  }
  if (what < 83) {
    if (worker.KillOneHost()) oracle_.Count("dead hosts of processes");
    return;
  }
  if (what < 87) return MakeSick(worker);
  if (what < 90) {
    if (machine.store->Rot(loop_)) oracle_.Count("rotten disks");
    return;
  }
  if (what < 92 && loop_.Chance(50)) {
    oracle_.Count("workers told to leave");
    worker.Leave(loop_.Below(10 * kSecond));
    return StartWorkerLater(machine);
  }
  if (what < 92) {
    oracle_.Count("workers shut down");
    worker.End();
    return StartWorkerLater(machine);
  }
  if (what < 95) {
    if (loop_.Chance(20)) return Usurp(machine);
    if (loop_.Chance(5)) return LoseForLong(machine);
    oracle_.Count("machines without power");
    return LosePower(machine);
  }
  oracle_.Count("dead workers");
  worker.Die();
  StartWorkerLater(machine);
}

// It answers, and does not do all that it should.
void SimCluster::MakeSick(SimWorker& worker) {
  if (loop_.Chance(5)) {
    oracle_.Count("nodes where nothing can be killed");
    return worker.Jam(kJammedNs);
  }
  if (loop_.Chance(30)) {
    oracle_.Count("slow machines");
    return worker.SlowDown(loop_.Below(10 * kSecond), SlowEventNs());
  }
  if (loop_.Chance(30)) {
    oracle_.Count("slow disks");
    return worker.SlowDiskDown(loop_.Below(20 * kSecond));
  }
  if (loop_.Chance(30)) {
    const std::uint64_t ns = loop_.Below(20 * kSecond);
    if (loop_.Chance(60)) return HangAStartForGood(worker, ns);
    oracle_.Count("file servers that hang");
    return worker.HangStarts(ns);
  }
  oracle_.Count("sick nodes");
  worker.FallSick(loop_.Below(20 * kSecond));
}

// Such a start has to be given up: by whoever has ordered it, or by the next coordinator.
void SimCluster::HangAStartForGood(SimWorker& worker, std::uint64_t ns) {
  oracle_.Count("file servers that hang for good");
  worker.HangStartsForGood(ns);
  if (worker.KillOneProcess()) oracle_.Count("dead processes");
  loop_.After(loop_.Below(3 * kSecond), [this] {
    if (journal_.fails || coordinator().dead() || coordinator_comes_) return;
    coordinator_comes_ = true;
    oracle_.Count("dead coordinators");
    coordinator().Die();
    loop_.After(loop_.Below(kSecond), [this] { StartCoordinator(); });
  });
}

// Who has a copy, and no process, dies while other copies take their time.
void SimCluster::LoseAHolder(Machine& holder) {
  SimWorker& worker = *holder.worker;
  if (!worker.IsIdle() || holder.worker_comes || machines_.size() < 3) return;
  oracle_.Count("nodes lost while images are copied");
  machines_[loop_.Below(machines_.size())].worker->SlowDiskDown(8 * kSecond);
  loop_.After(loop_.Below(kSecond), [this, &holder] {
    if (holder.worker->dead()) return;
    holder.worker->Die();
    StartWorkerLater(holder);
  });
}

void SimCluster::CutApart(const Machine& from, const Machine& to) {
  if (&from == &to || to.worker->dead()) return;
  oracle_.Count("pairs cut apart");
  apart_until_ns_[{from.name, to.name}] = loop_.now_ns() + loop_.Below(15 * kSecond);
  from.worker->streams().BreakTo(to.worker->id());
}

bool SimCluster::AreApart(const std::string& from, const std::string& to) const {
  const auto found = apart_until_ns_.find({from, to});
  return found != apart_until_ns_.end() && loop_.now_ns() < found->second;
}

void SimCluster::HalveAStream(SimStreams& streams) {
  const SimLink::End from = loop_.Chance(50) ? SimLink::kCaller : SimLink::kCalled;
  if (loop_.Chance(50)) {
    if (streams.StallOneWay(from, PauseNs())) oracle_.Count("streams stalled in one direction");
  } else {
    if (streams.SwallowOneWay(from, PauseNs())) oracle_.Count("streams that swallow");
  }
}

// It is repaired, or waits for somebody: its jobs, and its images, are waited for in vain.
void SimCluster::LoseForLong(Machine& machine) {
  if (machine.worker_comes) return LosePower(machine);
  oracle_.Count("machines that stay away");
  StartWorkerAfter(machine, loop_.Between(120, 200) * kSecond);
  machine.store->LosePower();
  if (!machine.worker->dead()) machine.worker->LosePower();
}

void SimCluster::LosePower(Machine& machine) {
  machine.store->LosePower();
  if (machine.worker->dead()) return;
  machine.worker->LosePower();
  StartWorkerLater(machine);
}

// One daemon at a time has the state directory.
void SimCluster::StartWorkerLater(Machine& machine) {
  if (std::exchange(machine.worker_comes, true)) return;
  const bool long_gone = loop_.Chance(20);
  StartWorkerAfter(machine, loop_.Below(long_gone ? 15 * kSecond : 2 * kSecond));
}

void SimCluster::StartWorkerAfter(Machine& machine, std::uint64_t ns) {
  machine.worker_comes = true;
  loop_.After(ns, [this, &machine] {
    machine.worker_comes = false;
    if (!machine.worker->dead()) return StartWorkerLater(machine);
    if (loop_.Chance(20)) PutStateBack(machine);
    if (loop_.Chance(10)) ReplaceMachine(machine);
    StartWorker(machine);
  });
}

// By who restores a machine as a whole, say. (With a journal that is put back, too, nobody can tell
// what is of which run.)
void SimCluster::PutStateBack(Machine& machine) {
  if (!machine.older || machine.store != machine.own_store.get() || loses_journals_) return;
  oracle_.Count("state directories put back");
  *machine.store = *machine.older;
  machine.store->put_back = true;
}

// Another one has its name, and no image: it was installed anew, say.
void SimCluster::ReplaceMachine(Machine& machine) {
  if (machine.store != machine.own_store.get()) return;
  oracle_.Count("machines replaced under their name");
  *machine.store = SimStore();
  machine.store->put_back = true;
  machine.older.reset();
  machine.slots += static_cast<std::uint32_t>(loop_.Below(2));
}

// Another one gets its name: a clone, while the first one is well; or that one cannot be reached,
// and the other is empty, or has a copy of its disk. Then the first one is there again, and sooner
// or later somebody sees that there are two.
void SimCluster::Usurp(Machine& machine) {
  if (machine.store != machine.own_store.get() || std::exchange(machine.worker_comes, true)) return;
  const bool is_well = loop_.Chance(50);
  oracle_.Count(is_well ? "machines cloned that are well"
                        : "machines that have the name of one that lives");
  auto store = std::make_unique<SimStore>();
  if (is_well || loop_.Chance(30)) *store = *machine.store;
  store->put_back = machine.store->put_back = true;
  store->of_two = machine.store->of_two = true;
  machine.images_address += "'";
  machine.store = store.get();
  usurped_.push_back(std::exchange(machine.own_store, std::move(store)));
  machine.older.reset();
  if (!is_well) machine.worker->CutOff(loop_.now_ns() + loop_.Below(4 * kSecond));
  loop_.After(loop_.Between(5, 20) * kSecond, [&usurped = *machine.worker] {
    if (!usurped.dead()) usurped.Die();
  });
  loop_.After(loop_.Below(2 * kSecond), [this, &machine] {
    machine.worker_comes = false;
    StartWorker(machine);
  });
}

// By who closes its lid, or takes a snapshot of a virtual one: the others give it up meanwhile.
// Each wakes in its own time.
void SimCluster::SuspendMachines(Machine& machine) {
  const auto sleep_ns = [this] { return loop_.Between(20, 75) * kSecond; };
  const std::uint64_t who = loop_.Below(4);
  if (who == 3) oracle_.Count("sites suspended for minutes");
  if (who >= 2) {
    oracle_.Count("coordinators suspended for minutes");
    loop_.Pause(coordinator().actor(), sleep_ns());
  }
  if (who == 2) return;
  oracle_.Count("machines suspended for minutes");
  for (Machine& each : machines_)
    if (who == 3 || &each == &machine) each.worker->PauseMachine(sleep_ns());
}

void SimCluster::PauseSomebody(Machine& machine) {
  if (loop_.Chance(1)) return SuspendMachines(machine);  // So many events: time is dear.
  const std::uint64_t who = loop_.Below(5);
  if (who < 2) {
    oracle_.Count("paused daemons");
    return machine.worker->PauseDaemon(PauseNs());
  }
  if (who == 2) {
    oracle_.Count("paused processes");
    return machine.worker->PauseProcesses(PauseNs());
  }
  oracle_.Count("paused machines");
  machine.worker->PauseMachine(PauseNs());
}

// From now on all goes well, and users want no more than that.
void SimCluster::CallOff() {
  loop_.After(kSecond, [this] { CallOff(); });
  loop_.On(coordinator().actor(), 0, [this, &called = coordinator()] {
    if (called.dead() || called.superseded()) return;
    for (const Machine& machine : machines_) called.SetDrained(machine.name, Drain::kUndrain);
    std::vector<JobId> suspended;
    for (const JobRecord* record : called.table().records()) {
      if (record->job().state() == proto::SUSPENDED) suspended.push_back(IdOf(*record));
    }
    for (const JobId job : suspended) called.Resume(job);
  });
}

}  // namespace bspnow
