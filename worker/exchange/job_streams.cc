#include "worker/exchange/job_streams.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/check.h"

namespace bspnow {

JobStreams::JobStreams(const JobPlan& plan, WorkerId self, PeerStreams& peers,
                       JobStreamsEvents events)
    : plan_(plan),
      self_(self),
      peers_(peers),
      events_(std::move(events)),
      streams_(plan.hosts.size()) {
  for (std::uint32_t k = 0; k < plan.hosts.size(); ++k) {
    const JobHost& host = plan.hosts[k];
    host_of_[host.worker] = k;
    if (host.worker == self) continue;
    const absl::StatusOr<SendingStream*> stream = peers_.Use(host);
    if (stream.ok()) {
      streams_[k] = *stream;
    } else {
      fault_ = absl::StrCat("the address ", host.data_address, " of worker ", host.node, ": ",
                            std::string(stream.status().message()));
    }
  }
  BSP_CHECK(host_of_.contains(self));
}

JobStreams::~JobStreams() {
  for (SendingStream* stream : streams_) {
    if (stream == nullptr) continue;
    stream->DropJob(plan_.job);
    peers_.Release(stream);
  }
}

JobShape JobStreams::Shape() const {
  JobShape shape{.job = plan_.job, .epoch = plan_.epoch, .self = HostOf(self_)};
  shape.host_of.resize(plan_.segment->segment().layout().nprocs);
  for (std::uint32_t k = 0; k < plan_.hosts.size(); ++k) {
    shape.hosts.push_back(plan_.hosts[k].pids);
    for (const Pid pid : plan_.hosts[k].pids) {
      BSP_CHECK_OP(Value(pid), <, shape.host_of.size());
      shape.host_of[Value(pid)] = k;
    }
  }
  return shape;
}

void JobStreams::SendToHost(std::uint32_t host, std::vector<OutgoingBatch>& frames) {
  SendingStream& stream = *streams_[host];
  stream.Cork();
  for (OutgoingBatch& frame : frames) stream.Send(std::move(frame));
  stream.Uncork();
}

void JobStreams::Prune(Superstep superstep) {
  for (SendingStream* stream : streams_) {
    if (stream != nullptr) stream->Prune(plan_.job, plan_.epoch, superstep);
  }
}

std::uint32_t JobStreams::HostOf(WorkerId worker) const {
  const auto found = host_of_.find(worker);
  return found == host_of_.end() ? static_cast<std::uint32_t>(plan_.hosts.size()) : found->second;
}

}  // namespace bspnow
