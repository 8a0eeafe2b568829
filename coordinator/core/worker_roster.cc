#include "coordinator/core/worker_roster.h"

#include <set>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/check.h"
#include "base/version.h"
#include "net/socket.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::uint32_t kSlotsMax = 65'536;
constexpr int kLabelsMax = 100;

bool IsNodeName(const std::string& name) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= kNameBytesMax &&
         name.find_first_not_of(kLetters) == std::string::npos;
}

}  // namespace

absl::Status CheckRegistration(const proto::RegisterRequest& request) {
  const proto::NodeSpec& node = request.node();
  if (!IsNodeName(node.name()))
    return absl::InvalidArgumentError(absl::StrCat("--name \"", node.name(),
                                                   "\": a node's name is 1 to ", kNameBytesMax,
                                                   " of A-Z a-z 0-9 . _ -"));
  if (node.version() != kVersion)
    return absl::FailedPreconditionError(absl::StrCat("worker ", node.name(), " is of version ",
                                                      node.version(), ", this coordinator of ",
                                                      kVersion, "; install the same on both"));
  if (node.slots() < 1 || node.slots() > kSlotsMax)
    return absl::InvalidArgumentError(absl::StrCat("--slots ", node.slots(), " of worker ",
                                                   node.name(), ": give 1 to ", kSlotsMax));
  if (node.labels_size() > kLabelsMax)
    return absl::InvalidArgumentError(
        absl::StrCat("worker ", node.name(), " has more than ", kLabelsMax, " labels"));
  const auto address = ParseHostPort(request.data_address());
  if (address.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the data address of worker ", node.name(), ": ", address.status().message()));
}

bool HoldTheSame(const proto::RegisterRequest& a, const proto::RegisterRequest& b) {
  const auto epochs_of = [](const proto::RegisterRequest& request) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> epochs;
    for (const proto::HeldJob& held : request.held()) epochs.emplace(held.job(), held.epoch());
    return epochs;
  };
  return epochs_of(a) == epochs_of(b);
}

// Into a share others may be writing just now.
bool KeepsOfAnotherCluster(const proto::RegisterRequest& request, const std::string& cluster) {
  if (request.cluster().empty() || request.cluster() == cluster) return false;
  return request.stored_size() != 0 || request.held_size() != 0 || !request.images_share().empty();
}

RegisteredWorker& WorkerRoster::Add(const proto::RegisterRequest& request) {
  return AddAs(WorkerId{++last_id_}, request);
}

RegisteredWorker& WorkerRoster::AddReturned(const proto::RegisterRequest& request) {
  return AddAs(WorkerId{request.previous_worker()}, request);
}

RegisteredWorker& WorkerRoster::AddAs(WorkerId id, const proto::RegisterRequest& request) {
  RegisteredWorker& worker = workers_[id];
  BSP_CHECK(worker.id == WorkerId{0});
  worker.id = id;
  worker.registration = request;
  lost_.erase(worker.name());
  return worker;
}

void WorkerRoster::Remove(WorkerId worker, const absl::Status& reason) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  if (found->second.sink) found->second.sink->Close(reason);
  lost_[found->second.name()] = std::move(found->second.registration);
  workers_.erase(found);
}

RegisteredWorker* WorkerRoster::Find(WorkerId worker) {
  const auto found = workers_.find(worker);
  return found == workers_.end() ? nullptr : &found->second;
}

RegisteredWorker* WorkerRoster::FindByName(const std::string& name) {
  for (auto& [id, worker] : workers_)
    if (worker.name() == name) return &worker;
  return nullptr;
}

absl::Status WorkerRoster::Attach(const proto::WorkerEvent& first,
                                  std::shared_ptr<OrderSink> sink) {
  RegisteredWorker* worker = Find(WorkerId{first.worker()});
  if (worker == nullptr || worker->registration.incarnation() != first.incarnation() ||
      first.term() != term_)
    return absl::NotFoundError(absl::StrCat("worker ", first.worker(), " of incarnation ",
                                            first.incarnation(), " is not known in term ", term_,
                                            ", or was lost; register again"));
  worker->attached = true;
  if (worker->sink)
    worker->sink->Close(absl::AbortedError("the worker has opened another control stream"));
  worker->sink = std::move(sink);
  worker->session.OnOrdersTaken(first.orders_taken());
  for (const proto::Order& order : worker->session.untaken()) worker->sink->Send(order);
  Acknowledge(*worker);
  return absl::OkStatus();
}

void WorkerRoster::Detach(WorkerId worker, const OrderSink* sink) {
  RegisteredWorker* found = Find(worker);
  if (found != nullptr && found->sink.get() == sink) found->sink = nullptr;
}

void WorkerRoster::Order(WorkerId worker, proto::Order order) {
  RegisteredWorker* found = Find(worker);
  if (found == nullptr) return;
  const proto::Order& given = found->session.Give(std::move(order));
  if (found->sink) found->sink->Send(given);
}

void WorkerRoster::OnLogged(WorkerId worker) {
  RegisteredWorker* found = Find(worker);
  if (found == nullptr) return;
  found->session.OnLogged();
  Acknowledge(*found);
}

void WorkerRoster::Acknowledge(RegisteredWorker& worker) {
  if (worker.sink) worker.sink->Acknowledge(worker.session.acted_upon());
}

}  // namespace bspnow::coordinator
