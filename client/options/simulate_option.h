// --simulate: the machine that this one plays.
#ifndef CLIENT_OPTIONS_SIMULATE_OPTION_H_
#define CLIENT_OPTIONS_SIMULATE_OPTION_H_

#include <CLI/CLI.hpp>
#include <optional>

#include "client/profile/cost_model.h"

namespace bspnow::client {

void AddSimulateOption(CLI::App& app, std::optional<Simulation>& simulation);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_SIMULATE_OPTION_H_
