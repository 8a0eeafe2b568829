// Jobs and nodes as JSON, for programs: the names here are an interface, listed in bsp(1).
#ifndef CLIENT_VIEW_JOB_JSON_H_
#define CLIENT_VIEW_JOB_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proto/jobs.pb.h"

namespace bspnow::client {

nlohmann::json JobJson(const proto::Job& job);
nlohmann::json JobsJson(const std::vector<proto::Job>& jobs);
/// Of one whose record is damaged: what is known of it, in the words of the others.
nlohmann::json DamagedJobJson(std::uint64_t job);
nlohmann::json NodeJson(const proto::Node& node);
nlohmann::json NodesJson(const proto::ListNodesReply& nodes);
nlohmann::json LogJson(const proto::LogLine& line);
nlohmann::json ParametersJson(const proto::MachineParameters& parameters);

/// On one line, with a newline; bytes that are no UTF-8 are replaced.
std::string JsonText(const nlohmann::json& json);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_JOB_JSON_H_
