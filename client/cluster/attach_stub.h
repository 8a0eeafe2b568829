// The stream between a client and the job that it runs: input and signals there, output and the end
// back. Its own threads only hand over to the event loop; everything here is called on that.
#ifndef CLIENT_CLUSTER_ATTACH_STUB_H_
#define CLIENT_CLUSTER_ATTACH_STUB_H_

#include <absl/status/status.h>

#include <functional>
#include <memory>

#include "client/cluster/jobs_stub.h"
#include "net/event_loop.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

struct AttachEvents {
  /// The job is there, and messages may come.
  std::function<void()> attached;

  /// The next message; no more come before ReadNext.
  std::function<void(const proto::FromJob&)> message;

  /// The answer to AskForJob.
  std::function<void(const proto::Job&)> shown;

  /// The last event: the stream is over. Ok after the job's end. Must not destroy the stub.
  std::function<void(const absl::Status&)> over;
};

class AttachStub {
 public:
  /// Attaches to a job that was submitted with `attached`.
  AttachStub(EventLoop& loop, const JobsStub& jobs, AttachEvents events);

  /// Breaks the stream if it is not over, and waits for that.
  ~AttachStub();

  void ReadNext();

  /// Sends, after what was sent before.
  void Send(proto::ToJob message);

  /// Asks how the job stands, beside the stream; nothing while the last answer is on its way.
  void AskForJob(std::uint64_t job);

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_ATTACH_STUB_H_
