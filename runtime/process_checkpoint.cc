// Process, as far as checkpoints go: it is saved at the end of bsp_sync, comes back in another
// process, or gets the areas back that it registered. See "Checkpoints" in docs/design.md.
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/agreement.h"
#include "runtime/link/report.h"
#include "runtime/process.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kLeasePollNs = 100'000;
constexpr timespec kLeaseNap{.tv_sec = 0, .tv_nsec = 1'000'000};

}  // namespace

std::uint64_t Process::processor_ns() const { return processor_ns_before_ + ProcessorNs(); }

// The worker puts the lease off when it hears from its coordinator again; else it ends us.
std::uint64_t Process::AwaitLease() {
  const std::atomic<std::uint64_t>& until_ns = segment_->header().lease_until_ns;
  const std::uint64_t start_ns = NowNs();
  for (;;) {
    const std::uint64_t now_ns = NowNs();
    if (now_ns < until_ns.load(std::memory_order_acquire)) return now_ns;
    if (now_ns - start_ns < kLeasePollNs) {
      sched_yield();
    } else {
      nanosleep(&kLeaseNap, nullptr);  // tidy: the worker writes the word and wakes nobody
    }
  }
}

// ---- The image --------------------------------------------------------------------------------

// What this process knows of `superstep_` and so on is already that of the superstep that begins.
void Process::TakeImage() {
  const std::uint64_t start_ns = NowNs();
  ImageOrder& order = segment_->header().image;
  const std::uint64_t checkpoint = order.checkpoint;
  const bool hold = order.hold != 0;
  if (!attachment_.link.StillOurs()) return;  // Its other end has seen that, and gives the reason.
  if (areas_.any()) fflush(nullptr);          // Buffers are not saved.
  UniqueFd directory = AskForImages(attachment_.link, LinkHello::kSaving);
  if (!directory.valid()) return;  // The worker gives this checkpoint up.
  const std::uint64_t elapsed_ns = start_ns - begin_ns_;
  const std::uint64_t processor_ns = this->processor_ns();
  if (Save(order, directory) == ImageOutcome::kRestored) {
    directory.Release();
    processor_ns_before_ = processor_ns - ProcessorNs();
    begin_ns_ = NowNs() - elapsed_ns;
    ComeBack();
    return;
  }
  inbox_.DropCopy();
  const std::uint64_t pause_ns = NowNs() - start_ns;
  segment_->cell(self_).image_pause_ns = pause_ns;
  recorder_.AddPause(superstep_ - 1, pause_ns);
  if (hold) wait_.Until(order.released, static_cast<std::uint32_t>(checkpoint));
}

ImageOutcome Process::Save(const ImageOrder& order, const UniqueFd& directory) {
  const NodeHeader& header = segment_->header();
  const ImageRequest request{.job = header.job,
                             .checkpoint = order.checkpoint,
                             .base = order.base,
                             .superstep = header.first_superstep + superstep_,
                             .pid = Value(self_),
                             .nprocs = p_,
                             .directory = directory.get(),
                             .link = attachment_.link.number(),
                             .doorbell = attachment_.doorbell.NumberIfOurs(),
                             .segment = &header,
                             .segment_bytes = segment_->bytes()};
  if (areas_.any() && !areas_.resumed()) {
    ReportNoImage(attachment_.link, order.checkpoint,
                  "the program has called bsp_checkpoint_register, but not bsp_checkpoint_resume");
    return ImageOutcome::kRefused;
  }
  if (areas_.any()) return areas_.Save(request);
  if (!inbox_.KeepCopy()) {
    ReportNoImage(attachment_.link, order.checkpoint, "no memory for a copy of unread messages");
    return ImageOutcome::kRefused;
  }
  return image_.Save(request);
}

// This is another process, perhaps on another machine: what belonged to the old one is gone, and
// its numbers and addresses must not be touched.
void Process::ComeBack() {
  SetSpeaker({});
  attachment_.segment.Forget();
  attachment_ = AttachAgain(UniqueFd(attachment_.link.number()));
  const NodeHeader& header = attachment_.segment.header();
  const std::uint32_t p = header.participants.value.load(std::memory_order_acquire);
  if (attachment_.pid != self_ || p != p_) {
    ReportFailure("pid %u of %u was resumed in the place of pid %u of %u", Value(self_), p_,
                  Value(attachment_.pid), p);
  }
  superstep_ = 0;
  outbox_ = Outbox();
  direct_ = DirectQueue();
  recorder_ = Recorder();
  Introduce();
  NoteBegin(attachment_.link);
  AttachParts();
  segment_->cell(self_).state.store(ProcessState::kRunning);
  inbox_.UseCopy();
  ExchangeRegistrationsAgain();
}

// Superstep 0 of the new epoch, and bsp_begin's barrier before it. The other nodes learn the
// registrations, as if all had been pushed now.
void Process::ExchangeRegistrationsAgain() {
  PassBarrier(BarrierKind::kOther, {});
  ProcessCell& cell = segment_->cell(self_);
  recorder_.Start(WithinLease(NowNs()));
  cell.started.Publish(1);
  SyncTimes times{.superstep = 0, .start_ns = NowNs(), .call_site = 0};
  if (full_check_.on()) PassBarrier(BarrierKind::kOther, {});
  registrations_.PushAgain();
  Vote();
  PassBarrier(BarrierKind::kOther, {.votes = 1});
  times.released_ns = WithinLease(NowNs());
  CompareVotes(*segment_, p_, superstep_, outbox_.parity(), tag_bytes_);
  registrations_.Commit();
  recorder_.Record(times, outbox_);
  outbox_.NextSuperstep();
  superstep_ = 1;
}

// ---- Areas ------------------------------------------------------------------------------------

// What is printed before this call belongs before it.
std::uint64_t Process::ResumeFromCheckpoint() {
  areas_.RequireReadyToResume();
  fflush(nullptr);
  vote_due_ = true;
  resume_called_ = true;
  return areas_.Resume(AskForImages(attachment_.link, LinkHello::kResume));
}

}  // namespace bspnow::runtime
