// ./a.out alone: the program replaces itself by its launcher, which starts it again.
#ifndef RUNTIME_LINK_SELF_START_H_
#define RUNTIME_LINK_SELF_START_H_

namespace bspnow::runtime {

/// Set from the replacement until a process of the launcher has found its link.
inline constexpr char kSelfStartVariable[] = "BSPNOW_SELF_START";

/// Replaces this process by `bsprun PROGRAM ARGS`, with this process's program and arguments. The
/// launcher is $BSPRUN, that of the installation the program was linked in, or the one on the PATH.
[[noreturn]] void StartUnderLauncher();

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_SELF_START_H_
