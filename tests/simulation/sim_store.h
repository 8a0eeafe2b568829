// The images on one machine's disk, which outlives its workers: an image may be torn when power is
// lost though its sync was acknowledged, and any may rot. Who reads one sees that (its checksums).
#ifndef TESTS_SIMULATION_SIM_STORE_H_
#define TESTS_SIMULATION_SIM_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/ids.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_program.h"
#include "worker/core/known_coordinator.h"

namespace bspnow {

struct SimImage {
  std::uint64_t superstep = 0;  ///< That begins after it, as shown.
  std::uint64_t base = 0;
  SimState state;
  bool lying_sync = false;  ///< The disk said that it is durable, and it is not.
  bool damaged = false;
};

class SimStore {
 public:
  worker::KnownCoordinator known;  ///< Whose images these are, as the worker has noted it.
  bool put_back = false;           ///< It is an older copy of itself, or an empty one, or was once.
  std::size_t images_max = ~std::size_t{0} / 2;
  bool of_two = false;  ///< There are two of them under one name, or were once.

  void Put(JobId job, std::uint64_t number, std::uint32_t pid, const SimImage& image) {
    jobs_[job][number][pid] = image;
  }
  /// nullptr if it is not there.
  const SimImage* Find(JobId job, std::uint64_t number, std::uint32_t pid) const;
  /// It and all that it builds upon, none of them damaged.
  bool HasChain(JobId job, std::uint64_t number, std::uint32_t pid) const;
  std::vector<std::uint32_t> PidsOf(JobId job, std::uint64_t number) const;
  void Discard(JobId job, std::uint64_t number);
  /// As ImageStore: all but these go, and what is newer than all of them.
  void Keep(JobId job, const std::vector<std::uint64_t>& numbers);
  std::map<JobId, std::set<std::uint64_t>> Stored() const;
  bool empty() const { return jobs_.empty(); }
  std::size_t images() const;
  /// Whether `more` images fit on its disk beside those of all jobs.
  bool HasRoomFor(std::size_t more) const { return images() + more <= images_max; }

  // ---- Faults.

  void LosePower();
  /// Some of its images are not what was written. False if there is none.
  bool Rot(SimLoop& loop);

 private:
  std::map<JobId, std::map<std::uint64_t, std::map<std::uint32_t, SimImage>>> jobs_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_STORE_H_
