// A node for HostedJobs without processes, threads or disk: what is asked of it is noted in words,
// and done when the test calls Work. The test makes up what happens to processes.
#ifndef WORKER_CORE_TESTING_FAKE_NODE_H_
#define WORKER_CORE_TESTING_FAKE_NODE_H_

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/core/checkpoint_disk.h"
#include "worker/core/hosted_job.h"
#include "worker/core/job_host.h"

namespace bspnow::worker {

class FakeNode final : public JobHosting, public CheckpointDisk {
 public:
  /// Does the first thing that was asked for; false if there is nothing to do.
  bool WorkOnce() {
    if (due_.empty()) return false;
    const std::function<void()> next = std::move(due_.front());
    due_.pop_front();
    next();
    return true;
  }
  void Work() {
    while (WorkOnce()) {
    }
  }

  /// Since the last call: "start", "discard 7", ...
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }

  HostedJob& job(std::uint64_t number) { return *jobs_.at(number); }

  std::unique_ptr<JobHost> Host(HostedJob& job) override {
    jobs_[job.start().job()] = &job;
    return std::make_unique<Job>(*this, job);
  }
  void RenewLease(std::uint64_t every_ms) override { heartbeat_ms = every_ms; }

  // ---- The disk

  void CheckRoom(std::uint64_t bytes, std::function<void(const absl::Status&)> done) override {
    Note(absl::StrCat("room ", bytes), [this, done] { done(room); });
  }
  void Settle(JobId, const proto::CheckpointStored& written,
              std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> done) override {
    Note(absl::StrCat("settle ", written.checkpoint()), [this, written, done] {
      done(settles.ok() ? absl::StatusOr<proto::CheckpointStored>(written) : settles);
    });
  }
  absl::StatusOr<std::vector<proto::StoredJob>> List() override {
    if (!listed.ok()) return listed;
    return std::vector<proto::StoredJob>();
  }
  void Discard(JobId, std::uint64_t checkpoint, std::function<void()> done) override {
    Note(absl::StrCat("discard ", checkpoint), done);
  }
  void Release(JobId, std::uint64_t checkpoint, std::function<void()> done) override {
    Note(absl::StrCat("release ", checkpoint, " on disk"), done);
  }
  void Keep(JobId, const std::vector<std::uint64_t>& checkpoints,
            std::function<void()> done) override {
    Note(absl::StrCat("keep ", absl::StrJoin(checkpoints, " ")), done);
  }
  void Copy(const proto::CopyCheckpoint& order, const std::vector<std::uint32_t>& pids,
            std::function<void(const absl::Status&)> done) override {
    Note(absl::StrCat("copy ", order.checkpoint(), " of ", absl::StrJoin(pids, " ")),
         [done] { done(absl::OkStatus()); });
  }

  // What comes of the next things.
  absl::Status prepared{};
  proto::RestoreFailed not_restored{};
  std::string not_brought{};
  absl::Status started{};
  absl::Status listed{};
  absl::Status room{};
  absl::Status settles{};

  std::uint64_t heartbeat_ms = 0;  ///< As it was last asked to renew its lease.

 private:
  class Job final : public JobHost {
   public:
    Job(FakeNode& node, HostedJob& job) : node_(node), job_(job) {}

    void Prepare() override {
      node_.Note("prepare", [this] {
        job_.OnPrepared(node_.prepared, node_.not_restored, node_.not_brought);
      });
    }
    void StopPreparing() override { node_.notes_.push_back("stop preparing"); }
    void BringFilesOnly() override { node_.notes_.push_back("files only"); }
    absl::Status Start(std::uint64_t lease_until_ns) override {
      node_.notes_.push_back(absl::StrCat("start until ", lease_until_ns));
      return node_.started;
    }
    void Send(const proto::HostOrder& order) override {
      node_.notes_.push_back(order.ShortDebugString());
    }
    bool TakeInput(const proto::Input& input) override { return input.offset() == 0; }
    void SetLease(std::uint64_t until_ns) override {
      node_.notes_.push_back(absl::StrCat("lease ", until_ns));
    }
    void OrderImage(const proto::TakeCheckpoint& order) override {
      node_.notes_.push_back(absl::StrCat("image ", order.checkpoint()));
    }
    void LookAgain(std::uint64_t look) override {
      node_.notes_.push_back(absl::StrCat("look ", look));
    }
    void SayAgain() override { node_.notes_.push_back("say again"); }
    void ReleaseHeld(std::uint64_t checkpoint) override {
      node_.notes_.push_back(absl::StrCat("release ", checkpoint));
    }
    proto::HeldJob Progress() const override {
      proto::HeldJob progress;
      progress.set_participants(job_.start().spec().nprocs());
      return progress;
    }
    void StopExchange() override { node_.notes_.push_back("stop exchange"); }
    void Clear(Left kept) override {
      node_.Note(kept == Left::kFilesAndProfile ? "clear, keep files" : "clear",
                 [this] { job_.OnCleared(""); });
    }

   private:
    FakeNode& node_;
    HostedJob& job_;
  };

  void Note(std::string note, std::function<void()> work) {
    notes_.push_back(std::move(note));
    due_.push_back(std::move(work));
  }

  std::map<std::uint64_t, HostedJob*> jobs_;
  std::vector<std::string> notes_;
  std::deque<std::function<void()>> due_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_TESTING_FAKE_NODE_H_
