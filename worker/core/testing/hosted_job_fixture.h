// HostedJobs with one job of two processes, on a node that is made up; the coordinator is the test.
#ifndef WORKER_CORE_TESTING_HOSTED_JOB_FIXTURE_H_
#define WORKER_CORE_TESTING_HOSTED_JOB_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "worker/core/hosted_job.h"
#include "worker/core/hosted_jobs.h"
#include "worker/core/testing/fake_node.h"

namespace bspnow::worker {

inline constexpr std::uint32_t kSelf = 3;
inline constexpr std::uint64_t kLeaseMs = 1;
inline constexpr std::uint64_t kOrphanTimeoutNs = 5000;
inline constexpr std::uint64_t kJob = 5;

using Notes = std::vector<std::string>;
using What = proto::WorkerEvent::WhatCase;

class HostedJobTest : public testing::Test {
 protected:
  HostedJobTest() {
    proto::RegisterReply reply;
    reply.set_worker(kSelf);
    reply.set_lease_ms(kLeaseMs);
    jobs_.OnRegistered(reply);
    start_.set_job(kJob);
    start_.set_epoch(1);
    start_.mutable_spec()->set_nprocs(2);
    start_.add_hosts()->set_worker(kSelf);
    for (const std::uint32_t pid : {0, 1}) start_.mutable_hosts(0)->add_pids(pid);
  }

  void Start() {
    proto::Order order;
    *order.mutable_start() = start_;
    jobs_.OnOrder(order);
    node_.Work();
    node_.TakeNotes();
  }
  void End() {
    proto::Order order;
    order.mutable_end()->set_job(kJob);
    order.mutable_end()->set_epoch(1);
    order.mutable_end()->set_keep_files(true);
    jobs_.OnOrder(order);
  }
  void ReleaseHeld(std::uint64_t checkpoint) {
    proto::Order order;
    order.mutable_release_held()->set_job(kJob);
    order.mutable_release_held()->set_epoch(1);
    order.mutable_release_held()->set_checkpoint(checkpoint);
    jobs_.OnOrder(order);
  }
  void Keep(std::uint64_t checkpoint) {
    proto::Order order;
    order.mutable_keep_checkpoints()->set_job(kJob);
    order.mutable_keep_checkpoints()->add_checkpoints(checkpoint);
    jobs_.OnOrder(order);
  }
  HostedJob& job() { return node_.job(kJob); }
  void Begin(std::uint32_t pid) {
    proto::WorkerEvent event;
    event.mutable_begun()->set_pid(pid);
    job().OnHostEvent(event);
  }
  void Exit(std::uint32_t pid) {
    proto::WorkerEvent event;
    event.mutable_exited()->set_pid(pid);
    job().OnHostEvent(event);
  }
  void Write(std::uint64_t checkpoint) {
    proto::WorkerEvent event;
    event.mutable_checkpoint_stored()->set_checkpoint(checkpoint);
    event.mutable_checkpoint_stored()->add_images()->set_file_bytes(1000);
    job().OnHostEvent(event);
  }
  std::vector<What> TakeEvents() {
    std::vector<What> kinds;
    for (const proto::WorkerEvent& event : events_) kinds.push_back(event.what_case());
    events_.clear();
    return kinds;
  }

  FakeNode node_;
  std::vector<proto::WorkerEvent> events_;
  HostedJobs jobs_{node_, node_, kOrphanTimeoutNs,
                   [this](proto::WorkerEvent event) { events_.push_back(std::move(event)); }};
  proto::StartJob start_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_TESTING_HOSTED_JOB_FIXTURE_H_
