// The signals by which daemons end, and those that must not end them.
#ifndef BASE_ENDING_SIGNALS_H_
#define BASE_ENDING_SIGNALS_H_

#include "base/unique_fd.h"

namespace bspnow {

/// SIGTERM and SIGINT come by the descriptor only (signalfd(2)), and so does SIGHUP of a daemon
/// that logs to a terminal, which has gone then. Elsewhere SIGHUP does nothing: who rotates logs
/// sends it to whatever writes them, and the files that other daemons would read again are looked
/// at when they are needed. A log that nobody reads any more and a file that may not grow end no
/// daemon either. What it executes has SIGPIPE and SIGXFSZ ignored, and the others blocked. Before
/// any thread is started.
UniqueFd TakeOverEndingSignals();

}  // namespace bspnow

#endif  // BASE_ENDING_SIGNALS_H_
