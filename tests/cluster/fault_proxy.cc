// fault_proxy [--seed N]: passes TCP connections on and disturbs them. Reads commands from standard
// input, a line each, and answers each with a line, `ok ...` or `error ...`; ends with its input.
//
//   listen ROUTE             opens a route; the answer is `ok HOST:PORT`, to connect to
//   target ROUTE HOST:PORT   where its connections go; without a target they are closed at once
//   faults ROUTE NAME=N...   what happens by chance from now on; faults that are not named stop:
//                            flip, reset, stall, halfopen: one in N bytes on average;
//                            stall_ms: how long a stall lasts; delay_ms: of every byte;
//                            piece: bytes are written in pieces of 1 to N
//   reset ROUTE              resets all connections of the route now
//   halfopen ROUTE           they carry nothing any more, but stay open; new ones are sound
//   cut ROUTE                the same, and new connections carry nothing, either
//   cut-to ROUTE, cut-from ROUTE   as cut, one way
//   swallow-to ROUTE [N], swallow-from ROUTE [N]   what is sent that way is read, and goes nowhere;
//                            with N on new connections, too, after N bytes
//   heal ROUTE               all connections carry bytes again
//   record FILE              what all routes pass on from now on is written there, too
//   counts                   ok flip=N reset=N stall=N halfopen=N connections=N bytes=N
//
// ROUTE may be * for all routes, but not after listen and target. Chance is a function of the seed,
// of the number of earlier connections on all routes, and of the bytes that this one has carried.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tests/cluster/proxy_connection.h"

namespace bspnow {
namespace {

constexpr const char* kFaultNames[kFaultKinds] = {"flip", "reset", "stall", "halfopen"};

sockaddr_in ParseAddress(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (colon == std::string::npos ||
      inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1)
    address.sin_family = AF_UNSPEC;
  else
    address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1)));
  return address;
}

UniqueFd NewSocket() {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

struct Route {
  UniqueFd listener;
  sockaddr_in target{};  ///< AF_UNSPEC until it is known.
  FaultSettings settings;
  std::list<ProxyConnection> connections;
  bool cut_to = false, cut_from = false;                            ///< Holds for new connections.
  std::array<std::uint64_t, 2> passes_bytes{kAllBytes, kAllBytes};  ///< The same, by Way.
};

class FaultProxy {
 public:
  explicit FaultProxy(std::uint64_t seed) : seed_(seed) {}

  /// Executes a command, and returns the answer.
  std::string Execute(const std::string& line);
  /// Waits until something happens on the routes or on standard input.
  /// Returns whether standard input can be read.
  bool Wait();
  void MoveAll();

 private:
  std::string Listen(const std::string& name);
  std::string SetFaults(Route& route, std::istringstream& words);
  std::string Disturb(Route& route, const std::string& what);
  static std::string Swallow(Route& route, Way way, std::istringstream& words);
  std::string Record(const std::string& path);
  std::string Counts() const;
  void Accept(Route& route);

  const std::uint64_t seed_;
  std::map<std::string, Route> routes_;
  ProxyCounts counts_;
};

std::string FaultProxy::Execute(const std::string& line) {
  std::istringstream words(line);
  std::string what, name, result;
  words >> what >> name;
  if (what == "counts") return Counts();
  if (what == "listen") return Listen(name);
  if (what == "record") return Record(name);
  if (what == "target") {
    std::string address;
    words >> address;
    routes_[name].target = ParseAddress(address);
    return routes_[name].target.sin_family == AF_INET ? "ok" : "error no address";
  }
  if (name != "*" && !routes_.contains(name)) return "error no such route";
  for (auto& [key, route] : routes_) {
    if (name != "*" && name != key) continue;
    std::istringstream rest(words.str());
    rest.seekg(words.tellg());
    result = what == "faults"         ? SetFaults(route, rest)
             : what == "swallow-to"   ? Swallow(route, Way::kTo, rest)
             : what == "swallow-from" ? Swallow(route, Way::kFrom, rest)
                                      : Disturb(route, what);
  }
  return result;
}

std::string FaultProxy::Listen(const std::string& name) {
  sockaddr_in address = ParseAddress("127.0.0.1:0");
  socklen_t length = sizeof address;
  UniqueFd fd = NewSocket();
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd.get(), generic, length) != 0 || listen(fd.get(), SOMAXCONN) != 0 ||
      getsockname(fd.get(), generic, &length) != 0)
    return "error cannot listen";
  routes_[name].listener = std::move(fd);
  return "ok 127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

std::string FaultProxy::SetFaults(Route& route, std::istringstream& words) {
  FaultSettings settings;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return "error NAME=N, not " + word;
    const std::string name = word.substr(0, equals);
    std::uint64_t* value = name == "stall_ms"   ? &settings.stall_ms
                           : name == "delay_ms" ? &settings.delay_ms
                           : name == "piece"    ? &settings.piece_bytes
                                                : nullptr;
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
      if (name == kFaultNames[kind]) value = &settings.mean_bytes[kind];
    if (value == nullptr) return "error no fault " + name;
    *value = std::strtoull(word.c_str() + equals + 1, nullptr, 10);
  }
  route.settings = settings;
  return "ok";
}

std::string FaultProxy::Disturb(Route& route, const std::string& what) {
  if (what == "cut-to" || what == "cut") route.cut_to = true;
  if (what == "cut-from" || what == "cut") route.cut_from = true;
  if (what == "heal") {
    route.cut_to = route.cut_from = false;
    route.passes_bytes = {kAllBytes, kAllBytes};
  }
  for (ProxyConnection& connection : route.connections) {
    if (what == "cut-to" || what == "cut" || what == "halfopen") connection.Cut(Way::kTo);
    if (what == "cut-from" || what == "cut" || what == "halfopen") connection.Cut(Way::kFrom);
    if (what == "heal") connection.Heal();
    if (what == "reset") connection.ResetBoth();
  }
  if (what == "reset") {
    counts_.faults[static_cast<std::size_t>(Fault::kReset)] += route.connections.size();
    route.connections.clear();
  }
  const bool known = what == "cut" || what == "cut-to" || what == "cut-from" ||
                     what == "halfopen" || what == "heal" || what == "reset";
  return known ? "ok" : "error no command " + what;
}

std::string FaultProxy::Swallow(Route& route, Way way, std::istringstream& words) {
  std::uint64_t bytes = 0;
  if (words >> bytes) route.passes_bytes[static_cast<std::size_t>(way)] = bytes;
  for (ProxyConnection& connection : route.connections) connection.SwallowAfter(way, bytes);
  return "ok";
}

std::string FaultProxy::Record(const std::string& path) {
  counts_.record.close();
  counts_.record.open(path, std::ios::binary);
  return counts_.record.is_open() ? "ok" : "error cannot write " + path;
}

std::string FaultProxy::Counts() const {
  std::ostringstream text;
  text << "ok";
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
    text << ' ' << kFaultNames[kind] << '=' << counts_.faults[kind];
  text << " connections=" << counts_.connections << " bytes=" << counts_.bytes;
  return text.str();
}

void FaultProxy::Accept(Route& route) {
  for (;;) {
    UniqueFd accepted(
        accept4(route.listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted.valid()) return;
    if (route.target.sin_family != AF_INET) continue;
    const int on = 1;
    setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    UniqueFd to_target = NewSocket();
    // Refusal shows at the first read, and then ends both sides.
    (void)connect(to_target.get(), reinterpret_cast<const sockaddr*>(&route.target),
                  sizeof route.target);
    route.connections.emplace_back(std::move(accepted), std::move(to_target),
                                   seed_ * 1'000'003 + counts_.connections++);
    if (route.cut_to) route.connections.back().Cut(Way::kTo);
    if (route.cut_from) route.connections.back().Cut(Way::kFrom);
    for (const Way way : {Way::kTo, Way::kFrom})
      route.connections.back().SwallowAfter(way, route.passes_bytes[static_cast<std::size_t>(way)]);
  }
}

bool FaultProxy::Wait() {
  const std::uint64_t now_ns = NowNs();
  std::uint64_t due_ns = UINT64_MAX;
  std::vector<pollfd> polled{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  for (const auto& [name, route] : routes_) {
    polled.push_back({.fd = route.listener.get(), .events = POLLIN, .revents = 0});
    for (const ProxyConnection& connection : route.connections) {
      for (const pollfd& interest : connection.Interests(now_ns))
        if (interest.events != 0) polled.push_back(interest);
      if (connection.due_ns() > now_ns) due_ns = std::min(due_ns, connection.due_ns());
    }
  }
  const int timeout_ms =
      due_ns == UINT64_MAX ? -1 : static_cast<int>((due_ns - now_ns) / 1'000'000 + 1);
  poll(polled.data(), polled.size(), timeout_ms);
  return polled[0].revents != 0;
}

void FaultProxy::MoveAll() {
  for (auto& [name, route] : routes_) {
    Accept(route);
    std::erase_if(route.connections, [&, &settings = route.settings](ProxyConnection& connection) {
      return !connection.Move(settings, NowNs(), counts_);
    });
  }
}

/// One line, without its newline; false at the end of the input. Unbuffered, as it is polled.
bool ReadLine(std::string& line) {
  line.clear();
  for (char c; read(STDIN_FILENO, &c, 1) == 1;) {
    if (c == '\n') return true;
    line += c;
  }
  return false;
}

int Main(int argc, char** argv) {
  FaultProxy proxy(argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 1);
  for (std::string line;;) {
    if (proxy.Wait()) {
      if (!ReadLine(line)) return 0;
      std::cout << proxy.Execute(line) << std::endl;
    }
    proxy.MoveAll();
  }
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) { return bspnow::Main(argc, argv); }
