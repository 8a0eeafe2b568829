// What the cost model says a superstep takes: w + h*g + l (Q&A about BSP, section 4).
#ifndef CLIENT_PROFILE_COST_MODEL_H_
#define CLIENT_PROFILE_COST_MODEL_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/jobs.pb.h"

namespace bspnow::client {

struct SuperstepFigures;
struct JobProfile;

/// Absent where the job's supersteps say nothing of it.
struct CostModel {
  std::optional<double> g_ns_per_byte;
  std::optional<double> l_ns;
};

/// As the job's supersteps show it.
CostModel ModelOf(const proto::JobTotals& totals);

/// Nothing if the model lacks what is needed.
std::optional<double> PredictedNs(const CostModel& model, const SuperstepFigures& figures);

/// Another machine, or one that is simulated.
struct Machine {
  std::uint32_t p;
  double rate;  ///< Of computing, beside that of the machine of the profile.
  double g_ns_per_byte;
  double l_ns;
};

/// "p,r,g,l", as in "16,1.5,0.8,25": l in microseconds.
absl::StatusOr<Machine> ParseMachine(const std::string& text);

/// A machine that bsprun --simulate plays, and how the model counts there.
struct Simulation {
  Machine machine;                ///< p 0: as many processors as the job has processes.
  std::uint64_t half_bytes = 0;   ///< n1/2: a message of x bytes costs (x + n1/2) g.
  std::uint64_t block_bytes = 0;  ///< BSP*: a shorter message costs as much as one of this size.
  bool computing_counts = true;   ///< False: w is 0.
};

/// "g=0.8,l=25", with p=, r=, n12=, b= or w=0 among them, in any order; units as in ParseMachine,
/// n12 and b in bytes.
absl::StatusOr<Simulation> ParseSimulation(const std::string& text);

/// What a job that took turns on this machine would have taken on that one: processes compute for
/// as long as their threads used a processor, and each superstep costs w + h g + l. Its h must have
/// been counted by the simulation's n1/2 and block size.
void Simulate(const Simulation& simulation, JobProfile& profile);

/// W + H g + S l over all supersteps: what a program costs on any machine. "1200 ns + 640 g + 3 l".
std::string CostSignature(const SuperstepFigures& all);

struct MachinePrediction {
  double w_ns;
  double h_bytes;
  double total_ns;
};

/// How a job would do on another machine.
struct Prediction {
  Machine machine;
  MachinePrediction there;
};

/// The same supersteps there. A machine of fewer processors than the job has processes runs as many
/// of these on each as it must, one after the other (Q&A about BSP, section 3: Brent's theorem):
/// what they compute adds up, and so does what they send and receive, that among themselves too.
/// InvalidArgument if it has more: the program would do something else there. A lower bound where a
/// column stands for several supersteps and a processor has several processes.
absl::StatusOr<MachinePrediction> PredictOn(const Machine& machine, const JobProfile& profile);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_COST_MODEL_H_
