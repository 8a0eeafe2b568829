// probe: measures the BSP parameters with bsp-probe, under bsprun, and stores them.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <stdio.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "client/child_output.h"
#include "client/commands.h"
#include "client/options/cluster_option.h"
#include "client/options/job_options.h"
#include "client/run/local_machine.h"
#include "client/view/job_json.h"
#include "client/view/parameters_view.h"
#include "client/view/quantities.h"
#include "client/view/text_table.h"

namespace bspnow::client {
namespace {

struct ProbeOptions {
  JobOptions job;
  bool show = false;
};

// Programs lie beside this one, as they are built, or in the installation's bin and libexec.
std::string Sibling(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / name;
  if (std::filesystem::exists(beside, error)) return beside;
  return self.parent_path().parent_path().parent_path() / "bin" / name;
}

std::vector<std::string> ProbeCommand(const CommandLine& line, const JobOptions& job) {
  const std::string coordinator = NamedCoordinator(line.coordinator);
  std::vector<std::string> command = {Sibling("bsprun"), "-n", absl::StrCat(job.nprocs)};
  if (!coordinator.empty()) {
    command.push_back("--coordinator=" + coordinator);
    if (!line.tls_dir.empty()) command.push_back("--tls=" + line.tls_dir);
    command.push_back("--name=probe");
    if (job.nodes != 0) command.push_back(absl::StrCat("--nodes=", job.nodes));
    if (job.per_node != 0) command.push_back(absl::StrCat("--per-node=", job.per_node));
    for (const std::string& label : job.constraints) command.push_back("--constraint=" + label);
    if (job.oversubscribe) command.push_back("--oversubscribe");
  }
  command.push_back(Sibling("bsp-probe"));
  return command;
}

proto::MachineParameters ParametersOf(const nlohmann::json& measured) {
  proto::MachineParameters parameters;
  parameters.set_p(measured.at("p"));
  parameters.set_r_flops(measured.at("r_flops"));
  parameters.set_l_ns(measured.at("l_ns"));
  parameters.set_g_shift_ns_per_byte(measured.at("g_shift_ns_per_byte"));
  parameters.set_g_total_ns_per_byte(measured.at("g_total_ns_per_byte"));
  parameters.set_half_bytes(measured.at("half_bytes"));
  parameters.set_measured_unix_ms(UnixMs());
  return parameters;
}

// One row for each size of message of the cyclic shift, and the nearest of the total exchange.
std::string CurvesText(const nlohmann::json& measured) {
  TextTable table({{"SHIFT", Align::kRight},
                   {"ns a byte", Align::kRight},
                   {"TOTAL EXCHANGE", Align::kRight},
                   {"ns a byte", Align::kRight}});
  const nlohmann::json& shift = measured.at("shift");
  const nlohmann::json& total = measured.at("total");
  const auto add = [](std::vector<TableCell>& row, const nlohmann::json& curve, std::size_t i) {
    const bool has = i < curve.size();
    row.push_back({has ? BytesText(curve[i].at(0)) : ""});
    row.push_back({has ? absl::StrFormat("%.3f", curve[i].at(1).get<double>()) : ""});
  };
  for (std::size_t i = 0; i < std::max(shift.size(), total.size()); ++i) {
    std::vector<TableCell> row;
    add(row, shift, i);
    add(row, total, i);
    table.AddRow(std::move(row));
  }
  return shift.empty() ? "" : "\n" + table.Text(Colours::kOff);
}

bool OfThisMachine(const CommandLine& line) { return NamedCoordinator(line.coordinator).empty(); }

absl::StatusOr<proto::MachineParameters> StoredParameters(const CommandLine& line,
                                                          std::uint32_t p) {
  if (OfThisMachine(line)) return KeptParameters(p);
  absl::StatusOr<JobsStub> jobs = ConnectTo(line);
  if (!jobs.ok()) return jobs.status();
  proto::ShowParametersRequest request;
  request.set_p(p);
  return jobs->ShowParameters(request);
}

absl::Status StoreParameters(const CommandLine& line, const proto::MachineParameters& parameters) {
  if (OfThisMachine(line)) return KeepParameters(parameters);
  absl::StatusOr<JobsStub> jobs = ConnectTo(line);
  return jobs.ok() ? jobs->StoreParameters(parameters) : jobs.status();
}

absl::StatusOr<int> ShowParameters(const CommandLine& line, const ProbeOptions& options) {
  const absl::StatusOr<proto::MachineParameters> parameters =
      StoredParameters(line, options.job.nprocs);
  if (!parameters.ok()) return parameters.status();
  std::cout << (options.job.json ? JsonText(ParametersJson(*parameters))
                                 : ParametersText(*parameters));
  return 0;
}

absl::StatusOr<int> Probe(const CommandLine& line, const ProbeOptions& options) {
  if (options.show) return ShowParameters(line, options);
  if (options.job.nprocs == 0) {
    return absl::InvalidArgumentError("give the number of processes, -n P");
  }
  const absl::StatusOr<ChildOutput> child = RunChild(ProbeCommand(line, options.job));
  if (!child.ok()) return child.status();
  if (child->status != 0) return child->status;  // The child has printed the reason.
  const nlohmann::json measured = nlohmann::json::parse(child->output, nullptr, false);
  if (!measured.is_object()) return absl::DataLossError("bsp-probe printed no measurements");
  const proto::MachineParameters parameters = ParametersOf(measured);
  if (options.job.json) {
    nlohmann::json all = ParametersJson(parameters);
    all["shift"] = measured.at("shift");
    all["total"] = measured.at("total");
    std::cout << JsonText(all);
  } else {
    std::cout << ParametersText(parameters) << CurvesText(measured);
  }
  if (absl::Status stored = StoreParameters(line, parameters); !stored.ok()) return stored;
  return 0;
}

}  // namespace

void AddProbeCommand(CommandLine& line) {
  CLI::App* command = AddCommand(line, "probe", "Measure p, r, l, g and n1/2, and store them");
  const auto options = std::make_shared<ProbeOptions>();
  AddProbeOptions(*command, options->job);
  command->add_flag("--show", options->show, "Show what was measured last (with -n: for that p)");
  command->add_flag("--json", options->job.json, kJsonText);
  SetAction(line, command, [&line, options] { return Probe(line, *options); });
}

}  // namespace bspnow::client
