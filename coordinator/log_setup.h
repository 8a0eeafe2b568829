// The daemon's own log: standard error, one line a fact, key=value.
#ifndef COORDINATOR_LOG_SETUP_H_
#define COORDINATOR_LOG_SETUP_H_

#include <string>

namespace bspnow::coordinator {

/// `level` as spdlog names it: "debug", "info", "warning", "error". For the whole process.
void SetUpLog(const std::string& level);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_LOG_SETUP_H_
