// A job's profile as it is drawn and listed: a column for each superstep, or for some neighbouring
// ones, with what all processes did in it; and sums by the call of bsp_sync. Made of what libbsp
// has recorded (proto/profile.proto); knows no file, network or clock.
#ifndef CLIENT_PROFILE_JOB_PROFILE_H_
#define CLIENT_PROFILE_JOB_PROFILE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/profile/cost_model.h"
#include "proto/jobs.pb.h"
#include "proto/profile.pb.h"

namespace bspnow::client {

/// Supersteps added up. Times that are not of one process are of a process on average; they add up
/// to the supersteps' time.
struct SuperstepFigures {
  std::uint64_t supersteps = 0;
  double compute_ns = 0;
  double wait_ns = 0;  ///< For the last process to arrive,
  double release_ns = 0;
  double exchange_ns = 0;
  double w_ns = 0;       ///< Computing of the slowest process of each superstep.
  double h_bytes = 0;    ///< The largest of bytes out or in, of each superstep.
  double out_bytes = 0;  ///< Of all processes.
  double messages = 0;   ///< Out, of all processes.

  double time_ns() const { return compute_ns + wait_ns + release_ns + exchange_ns; }
};

void AddTo(SuperstepFigures& sum, const SuperstepFigures& more);

/// Of one process in a column.
struct ProcessFigures {
  double compute_ns = 0;
  double wait_ns = 0;
  double release_ns = 0;
  double exchange_ns = 0;
  double out_bytes = 0;
  double in_bytes = 0;
  double out_messages = 0;
  double in_messages = 0;
};

void AddTo(ProcessFigures& sum, const ProcessFigures& more);

inline constexpr std::size_t kSeveralCalls = ~std::size_t{0};

struct Column {
  std::uint64_t first = 0;           ///< Superstep.
  double start_ns = 0;               ///< Since bsp_begin, by the processes' average.
  std::size_t call = kSeveralCalls;  ///< Index in JobProfile::calls: what ended it.
  SuperstepFigures all = {};
  std::vector<ProcessFigures> of = {};  ///< By place in JobProfile::pids.
  bool saved = false;                   ///< There was a checkpoint at the end,
  bool came_back = false;               ///< or the job went on from one.
};

/// A call of bsp_sync, or bsp_end, in the program.
struct SyncCall {
  std::uint64_t address;  ///< As in ProfileSite; 0: all others, kInLibrary: in a library.
  std::string name;       ///< "heat.c:120".
  SuperstepFigures all;
};
inline constexpr std::uint64_t kInLibrary = 1;

struct JobProfile {
  std::string title;
  std::uint32_t p = 0;
  std::vector<std::uint32_t> pids = {};  ///< Of which there are records; others were lost.
  std::vector<std::string> nodes = {};   ///< Theirs; empty: this machine.
  std::uint64_t supersteps_of_column = 1;
  std::vector<Column> columns = {};
  std::vector<SyncCall> calls = {};  ///< In the order of their first supersteps.
  SuperstepFigures all = {};
  /// By the call that ended supersteps of groups other than the root group, whose time `all` has in
  /// its computing, and nothing else of them. Each member counts its own supersteps; times, of a
  /// process on average, are those in the call.
  std::vector<SyncCall> group_calls = {};
  SuperstepFigures groups = {};  ///< Their sums.
  CostModel model = {};
  std::optional<Simulation> simulation = {};  ///< Times are by its model.
  std::vector<proto::JobLoss> losses = {};    ///< The last ones.
};

/// Of `job`, whose totals say what g and l are. InvalidArgument if the profile contradicts itself.
/// Of columns of many supersteps only the sums are known by process: w and h, the sums of each
/// superstep's largest, are then taken from these and raised to the totals' w and h in all.
absl::StatusOr<JobProfile> MakeJobProfile(const proto::Profile& profile, const proto::Job& job);

/// Joins supersteps that follow one another until about `columns_max` columns are left, each of
/// about the same time, so that each can be seen.
std::vector<Column> Condense(const std::vector<Column>& columns, std::size_t columns_max);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_JOB_PROFILE_H_
