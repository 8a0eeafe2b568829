#include "coordinator/core/nodes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>
#include "base/check.h"
#include "base/node_name.h"
#include "base/version.h"
#include "net/socket.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint32_t kSlotsMax = 65'536;
constexpr int kLabelsMax = 100;
constexpr char kPool[] = "pool:";
constexpr std::uint64_t kFirstRestNs = 5'000'000'000;   // After a fault, doubled each time,
constexpr std::uint64_t kLastRestNs = 300'000'000'000;  // up to this.
constexpr std::uint32_t kVainStreams = 2;  // One may have been open while the network failed.

// Workers of before there were numbers say none: they were of number 1.
absl::Status CheckProtocol(const proto::RegisterRequest& request) {
  const std::uint32_t oldest = std::max(request.protocol_oldest(), 1u);
  const std::uint32_t newest = std::max(request.protocol(), 1u);
  if (oldest <= kProtocol && kProtocol <= newest) return absl::OkStatus();
  const proto::NodeSpec& node = request.node();
  return absl::FailedPreconditionError(absl::StrCat(
      "worker ", node.name(), " of version ", node.version(), " speaks protocol ",
      oldest == newest ? "" : absl::StrCat(oldest, " to "), newest,
      ", this coordinator of version ", kVersion, " speaks ", kProtocol,
      "; install a newer version ", newest < kProtocol ? "on the worker" : "of the coordinator"));
}

absl::Status CheckDataAddress(const std::string& name, const std::string& data_address) {
  const auto address = ParseHostPort(data_address);
  if (address.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the data address of worker ", name, ": ", address.status().message()));
}

// Jobs, epochs and checkpoints have numbers above all that anybody has seen: a directory with a
// name of so many digits, say, must not use them up.
absl::Status CheckNumbers(const proto::RegisterRequest& request) {
  constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 53;      // Of JSON.
  constexpr std::uint64_t kCheckpointMax = std::uint64_t{1} << 62;  // As JobCheckpoints has them.
  const auto nobodys = [&request](const char* what, std::uint64_t number) {
    return absl::FailedPreconditionError(
        absl::StrCat("worker ", request.node().name(), " keeps ", what, " ", number,
                     ", which no coordinator has had; remove its images"));
  };
  for (const proto::HeldJob& held : request.held()) {
    if (held.job() > kNumberMax) return nobodys("job", held.job());
    if (held.epoch() > kNumberMax) return nobodys("epoch", held.epoch());
  }
  for (const proto::StoredJob& stored : request.stored()) {
    if (stored.job() > kNumberMax) return nobodys("job", stored.job());
    for (const std::uint64_t checkpoint : stored.checkpoints())
      if (checkpoint > kCheckpointMax) return nobodys("checkpoint", checkpoint);
  }
  return absl::OkStatus();
}

// As the worker's --accounts says: "pool:A,B". No other way has accounts for jobs alone.
std::vector<std::string> PoolOf(const proto::NodeSpec& spec) {
  const std::string& accounts = spec.accounts();
  if (!absl::StartsWith(accounts, kPool)) return {};
  return absl::StrSplit(accounts.substr(sizeof kPool - 1), ',');
}

}  // namespace

absl::Status CheckRegistration(const proto::RegisterRequest& request) {
  const proto::NodeSpec& node = request.node();
  if (!IsNodeName(node.name()))
    return absl::InvalidArgumentError(
        absl::StrCat("--name \"", node.name(), "\": ", kNodeNameRule));
  if (absl::Status s = CheckProtocol(request); !s.ok()) return s;
  if (node.slots() < 1 || node.slots() > kSlotsMax)
    return absl::InvalidArgumentError(absl::StrCat("--slots ", node.slots(), " of worker ",
                                                   node.name(), ": give 1 to ", kSlotsMax));
  if (node.labels_size() > kLabelsMax)
    return absl::InvalidArgumentError(
        absl::StrCat("worker ", node.name(), " has more than ", kLabelsMax, " labels"));
  if (absl::Status s = CheckNumbers(request); !s.ok()) return s;
  return CheckDataAddress(node.name(), request.data_address());
}

bool HoldTheSame(const proto::RegisterRequest& a, const proto::RegisterRequest& b) {
  const auto epochs_of = [](const proto::RegisterRequest& request) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> epochs;
    for (const proto::HeldJob& held : request.held()) epochs.emplace(held.job(), held.epoch());
    return epochs;
  };
  return epochs_of(a) == epochs_of(b);
}

bool WasNeverOrdered(const proto::RegisterRequest& request, JobId job, Epoch epoch) {
  if (!request.has_started_lacks()) return false;
  const auto& started = request.started();
  const auto newest = std::find_if(started.begin(), started.end(),
                                   [job](const auto& each) { return JobId{each.job()} == job; });
  return newest == started.end() ? job > JobId{request.started_lacks()}
                                 : Epoch{newest->epoch()} < epoch;
}

// Into a share others may be writing just now.
bool KeepsOfAnotherCluster(const proto::RegisterRequest& request, const std::string& cluster) {
  if (request.cluster().empty() || request.cluster() == cluster) return false;
  return request.stored_size() != 0 || request.held_size() != 0 || request.unfinished() ||
         !request.images_share().empty();
}

void Node::Order(proto::Order order) {
  const proto::Order& given = session.Give(std::move(order));
  if (sink) sink->Send(given);
}

void Node::Acknowledge() {
  if (sink) sink->Acknowledge(session.acted_upon());
}

void Node::OnFault(const std::string& reason, std::uint64_t now_ns) {
  rests_until_ns = now_ns + std::min(kFirstRestNs << std::min(faults, 10u), kLastRestNs);
  faults += 1;
  fault = reason;
  spdlog::warn("event=node_rests worker={} faults={} reason=\"{}\"", name, faults, reason);
}

std::string Node::WhyLost(std::uint64_t now_ns) const {
  std::string why = lease.WhyLost(now_ns);
  return why.empty() || given_up.empty() ? why : given_up;
}

// Its processes pass barriers by the frame stream, but no order reaches it and no end is heard.
std::string Node::WhyDeaf(std::uint64_t now_ns) const {
  if (!given_up.empty()) return "";
  if (vain_streams >= kVainStreams && session.Owes(owed_order) &&
      now_ns - owed_since_ns >= kLeaseLimits.silent_ns) {
    return absl::StrFormat(
        "control streams are opened, but no order has arrived for %.1f s: large packets may be "
        "lost on the way (see MTU in docs/operations.md)",
        1e-9 * (now_ns - owed_since_ns));
  }
  if (sink || now_ns - no_control_since_ns < kLeaseLimits.silent_ns) return "";
  return absl::StrFormat("no control stream for %.1f s", 1e-9 * (now_ns - no_control_since_ns));
}

void Node::OnPaused(std::uint64_t ns, std::uint64_t now_ns) {
  lease.OnPaused(ns, now_ns);
  no_control_since_ns = std::min(no_control_since_ns + ns, now_ns);
  owed_since_ns = std::min(owed_since_ns + ns, now_ns);
}

void Node::GiveUp(const std::string& reason, std::uint64_t now_ns) {
  given_up = reason;
  OnFault(reason, now_ns);
}

void Node::OnSound() {
  rests_until_ns = 0;
  faults = 0;
  fault.clear();
}

Node& Nodes::Named(const std::string& name) {
  Node& node = nodes_[name];
  node.name = name;
  return node;
}

const Node* Nodes::WithInPool(const std::string& account) const {
  for (const auto& [id, node] : up_) {
    const std::vector<std::string> pool = PoolOf(node->registration.node());
    if (std::find(pool.begin(), pool.end(), account) != pool.end()) return node;
  }
  return nullptr;
}

Node& Nodes::Add(WorkerId id, const proto::RegisterRequest& request, std::uint64_t now_ns) {
  const proto::NodeSpec& spec = request.node();
  Node& node = Named(spec.name());
  BSP_CHECK(!node.up());
  BSP_CHECK(up_.emplace(id, &node).second);
  node.worker = id;
  node.left = false;
  node.slots = spec.slots();
  node.accounts = static_cast<std::uint32_t>(PoolOf(spec).size());
  node.memory_bytes = spec.memory_bytes();
  node.labels = {spec.labels().begin(), spec.labels().end()};
  node.cpu_features = {spec.cpu_features().begin(), spec.cpu_features().end()};
  node.registration = request;
  node.no_control_since_ns = now_ns;
  node.lease = Lease(now_ns);
  return node;
}

void Nodes::Remove(WorkerId worker, const absl::Status& reason) {
  Node* node = Find(worker);
  if (node == nullptr) return;
  if (node->sink) node->sink->Close(reason);
  up_.erase(worker);
  Node left;
  left.name = node->name;
  left.drained = node->drained;
  left.left = node->leaving;
  left.loss = ++losses_;
  left.why_lost = std::string(reason.message());
  left.rests_until_ns = node->rests_until_ns;
  left.faults = node->faults;
  left.fault = std::move(node->fault);
  left.registration = std::move(node->registration);
  *node = std::move(left);
}

void Nodes::Forget(const std::string& name) {
  BSP_CHECK(FindUp(name) == nullptr);
  nodes_.erase(name);
}

Node* Nodes::Find(WorkerId worker) {
  const auto found = up_.find(worker);
  return found == up_.end() ? nullptr : found->second;
}

const Node* Nodes::Find(WorkerId worker) const { return const_cast<Nodes*>(this)->Find(worker); }

Node* Nodes::FindUp(const std::string& name) {
  const auto found = nodes_.find(name);
  return found == nodes_.end() || !found->second.up() ? nullptr : &found->second;
}

const Node* Nodes::FindUp(const std::string& name) const {
  return const_cast<Nodes*>(this)->FindUp(name);
}

// How far a stream has come is known when the next one begins: until then a worker need not say
// that it has taken an order.
void Node::OnStreamBegins(std::uint64_t now_ns) {
  if (owed_order != 0 && session.Owes(owed_order)) {
    vain_streams += 1;
    return;
  }
  owed_order = session.untaken().empty() ? 0 : session.untaken().front().sequence();
  owed_since_ns = now_ns;
  vain_streams = 0;
}

bool Node::OnAddresses(const proto::WorkerEvent& first) {
  if (first.data_address().empty() || first.data_address() == registration.data_address())
    return false;
  spdlog::info("event=worker_moved worker={} from={} to={}", name, registration.data_address(),
               first.data_address());
  registration.set_data_address(first.data_address());
  registration.set_images_address(first.images_address());
  return true;
}

absl::Status Nodes::Attach(const proto::WorkerEvent& first, std::shared_ptr<OrderSink> sink,
                           std::uint64_t now_ns) {
  Node* node = Find(WorkerId{first.worker()});
  if (node == nullptr || node->registration.incarnation() != first.incarnation() ||
      first.term() != term_)
    return absl::NotFoundError(absl::StrCat("worker ", first.worker(), " of incarnation ",
                                            first.incarnation(), " is not known in term ", term_,
                                            ", or was lost; register again"));
  if (!first.data_address().empty())
    if (absl::Status s = CheckDataAddress(node->name, first.data_address()); !s.ok()) return s;
  node->attached = true;
  if (node->sink)
    node->sink->Close(absl::AbortedError("the worker has opened another control stream"));
  node->sink = std::move(sink);
  node->session.OnOrdersTaken(first.orders_taken());
  node->OnStreamBegins(now_ns);
  for (const proto::Order& order : node->session.untaken()) node->sink->Send(order);
  node->Acknowledge();
  return absl::OkStatus();
}

void Nodes::Detach(WorkerId worker, const OrderSink* sink, std::uint64_t now_ns) {
  Node* node = Find(worker);
  if (node == nullptr || node->sink.get() != sink) return;
  node->sink = nullptr;
  node->no_control_since_ns = now_ns;
}

void Nodes::Order(WorkerId worker, proto::Order order) {
  if (Node* node = Find(worker)) node->Order(std::move(order));
}

}  // namespace bspnow::coordinator
