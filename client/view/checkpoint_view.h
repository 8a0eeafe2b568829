// What is shown of a job's checkpoints and losses, as text and as JSON.
#ifndef CLIENT_VIEW_CHECKPOINT_VIEW_H_
#define CLIENT_VIEW_CHECKPOINT_VIEW_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// As --checkpoint takes it: "auto", "every=100", "every=30s", "off".
std::string PolicyText(const proto::CheckpointPolicy& policy);

/// "worker w3 lost at superstep 812: lease expired; resumed from 800 in 1.4 s".
std::string LossText(const proto::JobLoss& loss);

/// Of the last one: "12 of superstep 800, 0:02 ago, on w1, w2"; empty if there is none.
std::string CheckpointText(const proto::CheckpointStatus& status, std::int64_t now_unix_ms);

/// A label and its text for each line.
using ShownLines = std::vector<std::pair<std::string, std::string>>;

ShownLines CheckpointLines(const proto::Job& job, std::int64_t now_unix_ms);

nlohmann::json CheckpointsJson(const proto::CheckpointStatus& status);
nlohmann::json LossesJson(const proto::Job& job);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_CHECKPOINT_VIEW_H_
