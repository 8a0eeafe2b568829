// What the processes of a simulated job do: the same on all nodes, from the job's number alone.
#ifndef TESTS_SIMULATION_SIM_PROGRAM_H_
#define TESTS_SIMULATION_SIM_PROGRAM_H_

#include <cstdint>
#include <string>

#include "coordinator/job_table.h"

namespace bspnow {

class SimProgram {
 public:
  /// Stands for the program in JobRequest.spec.
  static SimProgram FromSpec(const std::string& spec) { return SimProgram(std::stoull(spec)); }
  explicit SimProgram(std::uint64_t number) : number_(number) {}
  std::string spec() const { return std::to_string(number_); }

  std::uint64_t number() const { return number_; }
  std::uint64_t supersteps() const { return 1 + Pick(1, 0, 0, 0) % 6; }
  std::uint32_t barriers_per_superstep() const { return Pick(2, 0, 0, 0) % 4 == 0 ? 2 : 1; }
  /// Of bsp_begin, for a job of `nprocs`.
  std::uint32_t processes(std::uint32_t nprocs) const {
    return Pick(3, 0, 0, 0) % 4 == 0 ? 1 + static_cast<std::uint32_t>(Pick(4, 0, 0, 0) % nprocs)
                                     : nprocs;
  }
  /// Frames that host `from` owes host `to` in superstep `s`; the first of them may hold gets.
  std::uint64_t frames(std::uint64_t s, std::uint64_t from, std::uint64_t to) const {
    return from == to ? 0 : Pick(5, s, from, to) % 4;
  }
  bool gets(std::uint64_t s, std::uint64_t from, std::uint64_t to) const {
    return frames(s, from, to) > 0 && Pick(6, s, from, to) % 3 == 0;
  }
  /// The node where a process exits with status 3 in superstep `s`: one job in eight.
  bool fails(std::uint64_t s, std::uint64_t host) const {
    return Pick(7, 0, 0, 0) % 8 == 0 && s == supersteps() / 2 && host == 0;
  }

 private:
  std::uint64_t Pick(std::uint64_t what, std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
    std::uint64_t z = number_ * 0x9e3779b97f4a7c15 + what;
    for (const std::uint64_t word : {a, b, c}) {
      z = (z ^ word) * 0xbf58476d1ce4e5b9;
      z ^= z >> 29;
    }
    return z >> 8;
  }

  std::uint64_t number_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_PROGRAM_H_
