// The process's end of the link: finds its worker, sends kHello, and receives the segment. A
// program that was started without a launcher starts itself under one ("Starting and ending" in
// docs/design.md).
#ifndef RUNTIME_LINK_LINK_CLIENT_H_
#define RUNTIME_LINK_LINK_CLIENT_H_

#include "base/ids.h"
#include "base/unique_fd.h"
#include "runtime/link/known_descriptor.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

struct Attachment {
  Pid pid{};
  std::uint32_t processors = 1;  ///< Of this node.
  Segment segment;
  KnownDescriptor link;
  KnownDescriptor doorbell;  ///< If the job has several nodes.
  KnownDescriptor mailbox;   ///< The same; see TakeLanes.
};

/// Connects this process to the worker that started it. Without one, replaces the process by
/// `bsprun PROGRAM ARGS`, and so comes back in main. Ends the job if either fails.
Attachment AttachToWorker();

/// The same for a process that has been restored, over the new `link`.
Attachment AttachAgain(UniqueFd link);

/// Reports to the worker that this process is in bsp_begin.
void NoteBegin(const KnownDescriptor& link);

/// The answer to kSaving or kResume.
struct PlaceOfImages {
  UniqueFd descriptor;  ///< Invalid: it has none.
  bool lost = false;    ///< It had one, for which this process has no number free.
};

/// Ends the job if the link is the program's now.
PlaceOfImages AskForImages(const KnownDescriptor& link, LinkHello::Kind kind);

/// Reports to the worker that this process gives an image up, and why.
void ReportNoImage(const KnownDescriptor& link, std::uint64_t checkpoint, const char* reason);

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_LINK_CLIENT_H_
