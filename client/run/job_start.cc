#include "client/run/job_start.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/start_thread.h"
#include "base/units.h"
#include "client/cluster/cancel_all.h"
#include "client/run/letterbox.h"
#include "client/view/upload_progress.h"

namespace bspnow::client {
namespace {

// After an interruption, for the coordinator to answer, and to take the job back.
constexpr std::uint64_t kAnswerMs = 600;
constexpr std::uint64_t kCancelMs = 900;

}  // namespace

/// What the thread may still use when nobody waits for it any more.
struct JobStart::Shared {
  Letterbox letterbox;
  std::atomic<bool> interrupted = false;
  const Say say;
  const std::thread::id thread = std::this_thread::get_id();  ///< The loop's.

  Shared(EventLoop& loop, Say to_user) : letterbox(loop), say(std::move(to_user)) {}
};

/// The coordinator has the contents.
struct JobStart::Prepared {
  std::shared_ptr<JobsStub> jobs;
  Submission submission;
};

JobStart::JobStart(EventLoop& loop, Say say)
    : loop_(loop), shared_(std::make_shared<Shared>(loop, std::move(say))) {}

JobStart::~JobStart() { shared_->letterbox.Close(); }

void JobStart::Interrupt() {
  if (std::exchange(interrupted_, true)) return;
  interrupted_ns_ = NowNs();
  shared_->interrupted = true;
}

// Does `work` on a thread, and runs the loop meanwhile. Nothing, and it goes on in vain, if it is
// not done so long after an interruption.
template <typename Result>
std::optional<Result> JobStart::Beside(std::function<Result()> work, std::uint64_t patience_ms) {
  const auto done = std::make_shared<std::optional<Result>>();
  auto thread = StartThread([shared = shared_, done, work = std::move(work)] {
    const auto made = std::make_shared<Result>(work());
    shared->letterbox.Post([done, made] { done->emplace(std::move(*made)); });
  });
  if (!thread) return absl::ResourceExhaustedError("there is no thread to be had");
  thread->detach();
  TimerId limit = kNoTimer;
  bool over = false;
  while (!done->has_value() && !over) {
    if (interrupted_ && limit == kNoTimer) {
      const std::uint64_t since_ms = (NowNs() - interrupted_ns_) / kNsPerMs;
      limit = loop_.AddTimer(patience_ms - std::min(patience_ms, since_ms), [&] { over = true; });
    }
    loop_.RunOnce();
  }
  loop_.CancelTimer(limit);
  return std::move(*done);
}

absl::StatusOr<JobStart::Prepared> JobStart::Prepare(const Order& order,
                                                     const std::shared_ptr<Shared>& shared) {
  absl::StatusOr<Submission> submission = order.make();
  if (!submission.ok()) return submission.status();
  const auto say = [shared](const std::string& line) {
    if (std::this_thread::get_id() == shared->thread) return shared->say(line);
    shared->letterbox.Post([shared, line] { shared->say(line); });
  };
  absl::StatusOr<JobsStub> jobs = JobsStub::Connect(order.place, say, order.patience_ms);
  if (!jobs.ok()) return jobs.status();
  jobs->SetReconnectTimeout(order.reconnect_ms);
  UploadProgress progress;
  const absl::Status sent =
      jobs->Upload(submission->contents, [&](std::uint64_t done, std::uint64_t all) {
        progress.Show(done, all);
        return shared->interrupted ? absl::CancelledError("interrupted") : absl::OkStatus();
      });
  if (!sent.ok()) return sent;
  return Prepared{std::make_shared<JobsStub>(*std::move(jobs)), *std::move(submission)};
}

absl::StatusOr<JobStart::Accepted> JobStart::Run(const Order& order) {
  const auto prepared = Beside<absl::StatusOr<Prepared>>(
      [order, shared = shared_] { return Prepare(order, shared); }, 0);
  if (interrupted_) return absl::CancelledError("");
  if (!prepared->ok()) return prepared->status();
  const std::shared_ptr<JobsStub> jobs = (*prepared)->jobs;
  const proto::SubmitJobRequest& request = (*prepared)->submission.request;
  const auto reply = Beside<absl::StatusOr<proto::SubmitJobReply>>(
      [jobs, request] { return jobs->Submit(request); }, kAnswerMs);
  // Nobody knows whether it was accepted before the connection broke.
  const bool lost =
      reply && (absl::IsUnavailable(reply->status()) || absl::IsDeadlineExceeded(reply->status()));
  if (!reply || (interrupted_ && lost)) return absl::CancelledError(order.unseen);
  if (!reply->ok()) return reply->status();
  if (interrupted_) return CancelAccepted(jobs, **reply);
  return Accepted{.jobs = jobs, .key = request.submission_key(), .reply = **reply};
}

// It was accepted before the coordinator could know.
absl::Status JobStart::CancelAccepted(const std::shared_ptr<JobsStub>& jobs,
                                      const proto::SubmitJobReply& reply) {
  const std::uint64_t first = reply.job();
  const std::uint64_t last = first + std::max(reply.elements(), 1u) - 1;
  const auto cancelled = Beside<absl::Status>(
      [jobs, first, last] {
        std::vector<std::uint64_t> ids(last - first + 1);
        std::iota(ids.begin(), ids.end(), first);
        absl::Status status;
        CancelAll(*jobs, ids, [&](const auto& job) { status.Update(job.status()); });
        return status;
      },
      kCancelMs);
  const std::string ids =
      reply.elements() == 0 ? absl::StrCat(first) : absl::StrCat(first, "-", last);
  if (cancelled && cancelled->ok()) return absl::CancelledError("cancelled job " + ids);
  return absl::CancelledError(
      absl::StrCat("job ", ids, " was submitted; cancel it by `bsp cancel ", ids, "`"));
}

}  // namespace bspnow::client
