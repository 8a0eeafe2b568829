#include "net/rpc/grpc_log.h"

#include <grpc/support/log.h>  // tidy: the test says what gRPC would.
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace bspnow {
namespace {

std::string LogOf(int messages) {
  std::ostringstream log;
  auto logger = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  logger->set_pattern("level=%l %v");
  spdlog::set_default_logger(std::move(logger));
  unsetenv("GRPC_VERBOSITY");
  LogGrpc();
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);  // As it is once gRPC has begun.
  for (int i = 0; i < messages; ++i) gpr_log(GPR_ERROR, "handshake %d failed", i);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("none"));
  return log.str();
}

// A stranger can make gRPC say something as often as he connects.
TEST(GrpcLogTest, ACrowdOfMessagesIsOneLineOfTheLog) {
  const std::string log = LogOf(100);
  EXPECT_EQ(log.substr(0, log.find('\n')), "level=info event=grpc reason=\"handshake 0 failed\"");
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 10);
}

}  // namespace
}  // namespace bspnow
