// Files over calls of gRPC that wait. Templates, since gRPC itself is seen by stubs and services
// alone: a Writer, Reader or Context is gRPC's.
#ifndef FILES_FILE_STREAMS_H_
#define FILES_FILE_STREAMS_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>

#include "files/file_chunks.h"
#include "proto/grpc_status.h"

namespace bspnow::files {

/// `what` was done comes in front of an error, if it is not empty.
inline absl::Status While(const std::string& what, const absl::Status& status) {
  if (status.ok() || what.empty()) return status;
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

/// Sends a file, and tells `sent` the bytes of each chunk; what else the first chunk says is in
/// `chunk`. An error is one of this side; if the other side has ended the call, Finish knows why.
template <typename Writer, typename Sent>
absl::Status SendFile(OutgoingFile& file, proto::FileChunk chunk, Writer& writer, Sent sent) {
  do {
    if (absl::Status read = file.Read(chunk, kChunkBytesMax); !read.ok()) return read;
    if (!writer.Write(chunk)) return absl::OkStatus();
    if (absl::Status go_on = sent(chunk.data().size()); !go_on.ok()) return go_on;
  } while (!file.ended());
  return absl::OkStatus();
}

template <typename Writer>
absl::Status SendFile(OutgoingFile& file, const proto::FileChunk& chunk, Writer& writer) {
  return SendFile(file, chunk, writer, [](std::uint64_t) { return absl::OkStatus(); });
}

/// Ends a call after its last file, or after an error.
template <typename Context, typename Writer>
absl::Status EndSending(const absl::Status& sent, Context& context, Writer& writer,
                        const std::string& what) {
  if (!sent.ok()) context.TryCancel();
  if (sent.ok()) writer.WritesDone();
  const absl::Status ended = While(what, FromGrpc(writer.Finish()));
  return sent.ok() ? ended : sent;
}

/// All files of a call.
template <typename Context, typename Reader>
absl::Status TakeFiles(Context& context, Reader& reader, FileSink& sink, const std::string& what) {
  absl::Status taken;
  proto::FileChunk chunk;
  while (taken.ok() && reader.Read(&chunk)) taken = TakeChunk(chunk, sink);
  if (!taken.ok()) context.TryCancel();
  const absl::Status ended = While(what, FromGrpc(reader.Finish()));
  if (!taken.ok()) return While(what, taken);
  return ended.ok() ? While(what, sink.Finish()) : ended;
}

}  // namespace bspnow::files

#endif  // FILES_FILE_STREAMS_H_
