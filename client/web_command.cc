// web: the way to the coordinator's web page.
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "client/cluster/own_address.h"
#include "client/commands.h"
#include "client/view/job_json.h"
#include "net/socket.h"

namespace bspnow::client {
namespace {

struct WebQuery {
  bool open = false;
  bool json = false;
};

/// Where the page is, as seen from here: an address of the coordinator's for one that stands for
/// all of them.
absl::StatusOr<HostPort> PlaceOf(const std::string& told, const HostPort& coordinator) {
  absl::StatusOr<HostPort> place = ParseHostPort(told);
  if (!place.ok()) return place;
  const bool is_any = place->host == "0.0.0.0" || place->host == "::";
  if (is_any) place->host = coordinator.host;
  return place;
}

/// What a user elsewhere has to do to reach a page that listens on its own machine alone.
void SayHowToReach(const HostPort& page, const HostPort& coordinator) {
  const auto address = Resolve(page);
  if (!address.ok() || !address->IsLoopback() || IsThisMachine(coordinator.host)) return;
  std::cerr << "bsp: browsers on " << coordinator.host << " alone reach the page; `ssh -N -L "
            << page.port << ":" << page.ToString() << " " << coordinator.host
            << "` brings it to this machine" << std::endl;
}

absl::StatusOr<int> OpenPage(JobsStub& jobs, const WebQuery& query) {
  const absl::StatusOr<HostPort> coordinator = ParseHostPort(jobs.coordinator());
  if (!coordinator.ok()) return coordinator.status();
  const absl::StatusOr<proto::OpenPageReply> page = jobs.OpenPage();
  if (!page.ok()) return page.status();
  const absl::StatusOr<HostPort> place = PlaceOf(page->address(), *coordinator);
  if (!place.ok()) return place.status();
  const std::string url = absl::StrCat(page->tls() ? "https://" : "http://", place->ToString(),
                                       "/open?ticket=", page->ticket());
  std::cout << (query.json ? JsonText({{"url", url}}) : url + "\n") << std::flush;
  SayHowToReach(*place, *coordinator);
  if (!query.open) return 0;
  execlp("xdg-open", "xdg-open", url.c_str(), nullptr);
  return absl::NotFoundError(absl::StrCat("cannot start xdg-open (", strerror(errno),
                                          "); open the address above in a browser"));
}

}  // namespace

void AddWebCommand(CommandLine& line) {
  CLI::App* command =
      AddCommand(line, "web", "Print an address that opens the web page, once, within a minute");
  const auto query = std::make_shared<WebQuery>();
  command->add_flag("--open", query->open, "And open it in a browser, with xdg-open(1)");
  command->add_flag("--json", query->json, kJsonText);
  SetConnectedAction(line, command, [query](JobsStub& jobs) { return OpenPage(jobs, *query); });
}

}  // namespace bspnow::client
