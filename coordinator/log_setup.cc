#include "coordinator/log_setup.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace bspnow::coordinator {

void SetUpLog(const std::string& level) {
  auto log = spdlog::stderr_logger_mt("bsp-coordinator");
  log->set_level(spdlog::level::from_str(level));
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z level=%l %v");
  spdlog::set_default_logger(std::move(log));
}

}  // namespace bspnow::coordinator
