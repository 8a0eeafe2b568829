#include "tests/simulation/sim_program.h"

namespace bspnow {

SimReference::SimReference(const SimProgram& program, std::uint32_t nprocs) {
  const std::uint32_t p = program.processes(nprocs);
  std::vector<SimState> now;
  for (std::uint32_t pid = 0; pid < p; ++pid) now.push_back(program.Begin(pid));
  output.resize(p);
  states.push_back(now);
  for (std::uint64_t s = 0; s < program.supersteps(); ++s) {
    std::vector<std::uint64_t> received(p);
    for (std::uint32_t pid = 0; pid < p; ++pid) {
      if (program.prints(s, pid)) output[pid] += SimProgram::TextOf(now[pid].digest);
      for (const SimProgram::Message& message : program.messages(s, pid, p)) {
        if (message.get) {
          received[pid] += SimProgram::Received(message.to, message.index, now[message.to].digest);
        } else {
          received[message.to] += SimProgram::Received(
              pid, message.index, SimProgram::ValueOf(now[pid].digest, message));
        }
      }
    }
    for (std::uint32_t pid = 0; pid < p; ++pid) {
      now[pid] = {.digest = SimProgram::After(now[pid].digest, s, received[pid]),
                  .printed = output[pid].size() / SimProgram::kWordBytes};
    }
    states.push_back(now);
  }
  for (std::uint32_t pid = 0; pid < p; ++pid) output[pid] += SimProgram::TextOf(now[pid].digest);
}

}  // namespace bspnow
