// What the processes of a simulated job do, from the job's number alone: so every state that one of
// them may ever be in, and every word that it prints, is known beforehand (SimReference).
//
// In superstep s a process prints a word now and then, sends messages, and gets from others; what
// it has at the end of bsp_sync is a digest of all that it ever received.
#ifndef TESTS_SIMULATION_SIM_PROGRAM_H_
#define TESTS_SIMULATION_SIM_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/jobs.pb.h"

namespace bspnow {

/// Of one process between two supersteps.
struct SimState {
  std::uint64_t digest = 0;
  std::uint64_t printed = 0;  ///< Words.

  friend bool operator==(const SimState&, const SimState&) = default;
};

class SimProgram {
 public:
  struct Message {
    std::uint32_t to;
    std::uint32_t index;
    bool get;           ///< Asks for the other's digest.
    bool put;           ///< Without a buffer, into the other's memory.
    bool vote = false;  ///< To all nodes: what the process registers.
  };

  /// Its number is the program's first argument.
  static SimProgram FromSpec(const proto::JobSpec& spec) {
    return SimProgram(std::stoull(spec.arguments(0)));
  }
  explicit SimProgram(std::uint64_t number) : number_(number) {}

  std::uint64_t supersteps() const { return 1 + Pick(1, 0, 0, 0) % 40; }
  std::uint32_t barriers_per_superstep() const { return Pick(2, 0, 0, 0) % 4 == 0 ? 2 : 1; }
  /// Of bsp_begin, for a job of `nprocs`.
  std::uint32_t processes(std::uint32_t nprocs) const {
    return Pick(3, 0, 0, 0) % 4 == 0 ? 1 + static_cast<std::uint32_t>(Pick(4, 0, 0, 0) % nprocs)
                                     : nprocs;
  }
  /// What `pid` of p processes sends in superstep s.
  std::vector<Message> messages(std::uint64_t s, std::uint32_t pid, std::uint32_t p) const {
    std::vector<Message> messages;
    for (std::uint32_t i = 0; i < Pick(5, s, pid, 0) % 3; ++i) {
      const bool get = !counted(s) && Pick(7, s, pid, i) % 6 == 0;
      const bool put = !get && puts(s) && Pick(17, s, pid, i) % 2 == 0;
      messages.push_back({static_cast<std::uint32_t>(Pick(6, s, pid, i) % p), i, get, put});
    }
    return messages;
  }
  /// Superstep s ends by counting messages: there are no gets.
  bool counted(std::uint64_t s) const {
    return Pick(14, 0, 0, 0) % 2 == 0 && Pick(15, s, 0, 0) % 3 != 0 && s + 1 != supersteps();
  }
  /// Some of what is sent in superstep s are puts by bulk lanes.
  bool puts(std::uint64_t s) const { return !counted(s) && Pick(18, s, 0, 0) % 3 == 0; }
  /// These are buffered ones, long enough for bulk lanes.
  bool buffered(std::uint64_t s) const { return Pick(19, s, 0, 0) % 2 == 0; }
  /// All processes register or remove something in superstep s, and each tells all nodes.
  bool registers(std::uint64_t s) const { return Pick(21, s, 0, 0) % 4 == 0; }
  std::uint64_t VoteOf(std::uint64_t s, std::uint32_t pid) const { return Pick(22, s, pid, 0); }
  /// Some of what is sent in superstep s is sent before its end.
  bool sends_early(std::uint64_t s) const { return Pick(16, s, 0, 0) % 3 == 0; }
  /// Whether the process has another group open at the end of superstep s: no image of it then.
  bool in_groups(std::uint64_t s, std::uint32_t pid) const {
    return Pick(12, 0, 0, 0) % 3 == 0 && Pick(13, s, pid, 0) % 4 == 0;
  }
  bool prints(std::uint64_t s, std::uint32_t pid) const { return Pick(8, s, pid, 0) % 3 == 0; }
  /// The process that exits with status 3 in superstep `s`: one job in ten.
  bool fails(std::uint64_t s, std::uint32_t pid, std::uint32_t p) const {
    return Pick(9, 0, 0, 0) % 10 == 0 && s == supersteps() / 2 && pid == Pick(10, 0, 0, 0) % p;
  }

  /// Ends when it is sent a signal; others ignore all but SIGKILL.
  bool obeys() const { return Pick(20, 0, 0, 0) % 2 == 0; }

  /// A word as it is printed.
  static constexpr std::size_t kWordBytes = 16;
  static std::string TextOf(std::uint64_t word) {
    std::string text(kWordBytes, '0');
    for (char& digit : text) {
      digit = "0123456789abcdef"[word >> 60];
      word <<= 4;
    }
    return text;
  }

  static std::uint64_t Mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t z = a * 0x9e3779b97f4a7c15 + b;
    for (const std::uint64_t word : {b, c}) {
      z = (z ^ word) * 0xbf58476d1ce4e5b9;
      z ^= z >> 29;
    }
    return z;
  }
  SimState Begin(std::uint32_t pid) const { return {.digest = Mix(number_, pid, 1), .printed = 0}; }
  /// Of a message; of a get, what the other has.
  static std::uint64_t ValueOf(std::uint64_t sender, const Message& message) {
    return Mix(sender, message.to, message.index);
  }
  /// Summed up over all that one process receives in a superstep, in any order.
  static std::uint64_t Received(std::uint32_t from, std::uint32_t index, std::uint64_t value) {
    return Mix(from, index, value);
  }
  static std::uint64_t After(std::uint64_t digest, std::uint64_t s, std::uint64_t received) {
    return Mix(digest, s, received);
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

/// An undisturbed run.
struct SimReference {
  std::vector<std::vector<SimState>> states;  ///< By superstep that begins, then pid.
  std::vector<std::string> output;            ///< By pid.

  SimReference(const SimProgram& program, std::uint32_t nprocs);
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_PROGRAM_H_
