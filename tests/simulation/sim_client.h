// A client that stays with its job: it sends input, its connection breaks, it comes back and sends
// again what it has not heard of; or it does not, or leaves. See coordinator/core/attachment.h.
#ifndef TESTS_SIMULATION_SIM_CLIENT_H_
#define TESTS_SIMULATION_SIM_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/ids.h"
#include "tests/simulation/sim_coordinator.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"

namespace bspnow {

class SimClient {
 public:
  struct Parts {
    SimLoop& loop;
    SimOracle& oracle;
    std::function<SimCoordinator&()> coordinator;
  };

  SimClient(Parts parts, JobId job, std::string key);

 private:
  class Stream;
  struct State;
  static void GoOn(const std::shared_ptr<State>& state);
  static void Speak(State& state, SimCoordinator& coordinator);
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_CLIENT_H_
