// Process, as far as checkpoints go: it is saved at the end of bsp_sync, comes back in another
// process, or gets the areas back that it registered. See "Checkpoints" in docs/design.md.
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/link/crc32c.h"
#include "runtime/link/report.h"
#include "runtime/process.h"

namespace bspnow::runtime {

std::uint64_t Process::processor_ns() const { return processor_ns_before_ + ProcessorNs(); }

// ---- The image --------------------------------------------------------------------------------

// What this process knows of its superstep and so on is already that of the superstep that begins.
void Process::TakeImage() {
  const std::uint64_t start_ns = NowNs();
  ImageOrder& order = segment_->header().image;
  const std::uint64_t checkpoint = order.checkpoint;
  const bool hold = order.hold != 0;
  if (!attachment_.link.StillOurs()) return;  // Its other end has seen that, and gives the reason.
  if (areas_.any()) fflush(nullptr);          // Buffers are not saved.
  PlaceOfImages place = AskForImages(attachment_.link, LinkHello::kSaving);
  if (!place.descriptor.valid() && !place.lost) return;  // The worker gives this checkpoint up.
  const Clocks clocks{.elapsed_ns = start_ns - begin_ns_, .processor_ns = processor_ns()};
  if (Save(order, clocks, place) == ImageOutcome::kRestored) {
    place.descriptor.Release();
    processor_ns_before_ = clocks.processor_ns - ProcessorNs();
    begin_ns_ = NowNs() - clocks.elapsed_ns;
    ComeBack();
    return;
  }
  root_.DropCopies();
  segment_->cell(self_).image_pause_ns = NowNs() - start_ns;  // What follows is no cost of it.
  if (hold) root_.AwaitRelease(order, checkpoint);
  root_.AddPause(NowNs() - start_ns);
}

ImageOutcome Process::Save(const ImageOrder& order, const Clocks& clocks,
                           const PlaceOfImages& place) {
  const NodeHeader& header = segment_->header();
  ImageRequest request{.job = header.job,
                       .checkpoint = order.checkpoint,
                       .base = order.base,
                       .superstep = header.first_superstep + root_.superstep(),
                       .pid = Value(self_),
                       .nprocs = p_,
                       .elapsed_ns = clocks.elapsed_ns,
                       .processor_ns = clocks.processor_ns,
                       .directory = place.descriptor.get(),
                       .link = attachment_.link.number(),
                       .doorbell = attachment_.doorbell.NumberIfOurs(),
                       .mailbox = attachment_.mailbox.NumberIfOurs(),
                       .lanes = {},
                       .segment = &header,
                       .segment_bytes = segment_->bytes()};
  root_.NameLanes(request.lanes);
  if (place.lost) {
    ReportNoImage(attachment_.link, order.checkpoint,
                  "a descriptor did not reach the program: are as many open as ulimit -n allows?");
    return ImageOutcome::kRefused;
  }
  if (areas_.any() && !areas_.resumed()) {
    ReportNoImage(attachment_.link, order.checkpoint,
                  "the program has called bsp_checkpoint_register, but not bsp_checkpoint_resume");
    return ImageOutcome::kRefused;
  }
  if (areas_.any()) return areas_.Save(image_, request);
  if (!root_.KeepCopies()) {
    ReportNoImage(attachment_.link, order.checkpoint, "no memory for a copy of unread messages");
    return ImageOutcome::kRefused;
  }
  return image_.Save(request);
}

// This is another process, perhaps on another machine: what belonged to the old one is gone, and
// its numbers and addresses must not be touched.
void Process::ComeBack() {
  ForgetProcessor();
  SetSpeaker({});
  attachment_.segment.Forget();
  attachment_ = AttachAgain(UniqueFd(attachment_.link.number()));
  const NodeHeader& header = attachment_.segment.header();
  const std::uint32_t p = header.participants.value.load(std::memory_order_acquire);
  if (attachment_.pid != self_ || p != p_) {
    ReportFailure("pid %u of %u was resumed in the place of pid %u of %u", Value(self_), p_,
                  Value(attachment_.pid), p);
  }
  Introduce();
  NoteBegin(attachment_.link);
  root_.ComeBack(SeatInJob());
}

// ---- Areas ------------------------------------------------------------------------------------

// Areas are those of one section, and images are of the root group.
void Process::RequireSectionOfAll(const char* call) const {
  if (group_ == &root_) return;
  ReportMisuse(call,
               "the SPMD section has %u of the job's %u processes, or is within another; call it in"
               " one of all that is not",
               group_->p(), p_);
}

void Process::RegisterForCheckpoints(void* data, std::uint64_t bytes) {
  RequireSectionOfAll("bsp_checkpoint_register");
  areas_.Register(data, bytes);
}

// What is printed before this call belongs before it.
std::uint64_t Process::ResumeFromCheckpoint() {
  RequireSectionOfAll("bsp_checkpoint_resume");
  areas_.RequireReadyToResume();
  fflush(nullptr);
  root_.NoteResumeCalled();
  const PlaceOfImages place = AskForImages(attachment_.link, LinkHello::kResume);
  if (place.lost) {
    ReportFailure(
        "the image of this process cannot be read, as the program has as many descriptors open as"
        " it may: raise its ulimit -n");
  }
  const SavedPlace saved = areas_.Resume(place.descriptor);
  if (saved.superstep == 0) return 0;
  // No clock goes back, though this run may have come here later than the one that was saved.
  // Durations are compared, as the job may have run longer than this machine has been up.
  const std::uint64_t elapsed_ns = NowNs() - begin_ns_;
  if (elapsed_ns < saved.clocks.elapsed_ns)
    begin_ns_ -= saved.clocks.elapsed_ns - elapsed_ns;  // May wrap, as when restored.
  processor_ns_before_ = saved.clocks.processor_ns;
  return saved.superstep;
}

}  // namespace bspnow::runtime
