// Which features of the processor that made an image are missing on this one. Code of a program
// may have been chosen for them (glibc's IFUNCs, -march), and the image holds pointers to that
// code.
#ifndef WORKER_CHECKPOINT_CPU_FEATURES_H_
#define WORKER_CHECKPOINT_CPU_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow::worker {

/// A processor as an image records it.
struct CpuFeatures {
  std::string names;       ///< As in the line `flags` of /proc/cpuinfo, by blanks.
  std::uint64_t xcr0 = 0;  ///< Register state that the kernel saves: XGETBV(0); 0: unknown.
};

/// The features of this machine, from /proc/cpuinfo and XGETBV.
CpuFeatures PresentCpuFeatures();

/// Features of `needed` that code can depend on and `present` lacks, by name; state components
/// that XCR0 lacks as "xcr0:NAME". Empty: an image of the one runs on the other.
std::vector<std::string> MissingCpuFeatures(const CpuFeatures& needed, const CpuFeatures& present);

/// The features of `present` that a process uses if it may use only `allowed`; an empty `allowed`
/// permits all.
CpuFeatures LimitedTo(const std::vector<std::string>& allowed, const CpuFeatures& present);

/// The value of GLIBC_TUNABLES with which glibc chooses neither functions nor libraries for
/// features that `present` has and `allowed` lacks. Empty if it need not be told, or if `allowed`
/// is. (The GNU C Library manual, "Hardware Capability Tunables".)
std::string TunablesFor(const std::vector<std::string>& allowed, const CpuFeatures& present);

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_CPU_FEATURES_H_
