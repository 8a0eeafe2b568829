#include "client/options/simulate_option.h"

namespace bspnow::client {

void AddSimulateOption(CLI::App& app, std::optional<Simulation>& simulation) {
  app.add_option_function<std::string>(
         "--simulate",
         [&simulation](const std::string& text) { simulation = *ParseSimulation(text); },
         "Run the processes here one after another, and tell what a machine of p processors would "
         "take, with g (ns a byte) and l (us), as in p=16,g=0.8,l=25")
      ->check([](const std::string& text) {
        return std::string(ParseSimulation(text).status().message());
      })
      ->type_name("PARAMETERS");
}

}  // namespace bspnow::client
