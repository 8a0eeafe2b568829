// What a program needs in order to begin, as its own file names it.
#ifndef WORKER_HOST_INTERPRETER_H_
#define WORKER_HOST_INTERPRETER_H_

#include <limits.h>

namespace bspnow::worker {

/// The path of an interpreter; "" if there is none. It goes through a pipe.
struct InterpreterPath {
  char text[PATH_MAX / 2];
};

/// What the first line of the script at `program` names, or the loader of a program with shared
/// libraries. Of no other file, and of none that cannot be read. Async-signal-safe: execve(2) says
/// of what is not there only that something is not.
InterpreterPath InterpreterOf(const char* program);

}  // namespace bspnow::worker

#endif  // WORKER_HOST_INTERPRETER_H_
