#include "worker/exchange/job_streams.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace bspnow::worker {

JobShape ShapeOf(const JobPlan& plan, GroupId group, WorkerId self) {
  JobShape shape{.job = plan.job, .epoch = plan.epoch, .group = group};
  std::size_t processes = 0;
  for (const PlannedHost& host : plan.hosts) processes += host.pids.size();
  shape.host_of.resize(processes);
  shape.self = static_cast<std::uint32_t>(plan.hosts.size());
  for (std::uint32_t k = 0; k < plan.hosts.size(); ++k) {
    if (plan.hosts[k].worker == self) shape.self = k;
    shape.hosts.push_back(plan.hosts[k].pids);
    for (const Pid pid : plan.hosts[k].pids) {
      BSP_CHECK_OP(Value(pid), <, shape.host_of.size());
      shape.host_of[Value(pid)] = k;
    }
  }
  BSP_CHECK_OP(shape.self, <, plan.hosts.size());
  return shape;
}

JobStreams::JobStreams(const JobPlan& plan, GroupId group, WorkerId self, PeerStreams& peers)
    : job_(plan.job),
      epoch_(plan.epoch),
      group_(group),
      key_(plan.key),
      peers_(peers),
      streams_(plan.hosts.size()) {
  for (std::uint32_t k = 0; k < plan.hosts.size(); ++k) {
    const PlannedHost& host = plan.hosts[k];
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
}

JobStreams::~JobStreams() {
  for (SendingStream* stream : streams_) {
    if (stream == nullptr) continue;
    stream->DropGroup(job_, group_);
    peers_.Release(stream);
  }
}

void JobStreams::Send(std::uint32_t host, std::vector<OutgoingBatch>& frames) {
  SendingStream& stream = *streams_[host];
  stream.Cork();
  for (OutgoingBatch& frame : frames) {
    frame.job_key = key_;
    stream.Send(std::move(frame));
  }
  stream.Uncork();
}

void JobStreams::Prune(Superstep superstep) {
  for (SendingStream* stream : streams_) {
    if (stream != nullptr) stream->Prune(job_, epoch_, group_, superstep);
  }
}

bool JobStreams::Holds() const {
  return std::any_of(streams_.begin(), streams_.end(), [this](const SendingStream* stream) {
    return stream != nullptr && stream->Holds(job_, group_);
  });
}

std::uint32_t JobStreams::HostOf(WorkerId worker) const {
  const auto found = host_of_.find(worker);
  return found == host_of_.end() ? static_cast<std::uint32_t>(streams_.size()) : found->second;
}

}  // namespace bspnow::worker
