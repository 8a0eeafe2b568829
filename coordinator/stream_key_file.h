// Where the coordinator keeps the key of its cluster's streams: 64 hexadecimal digits on a line,
// for nobody else to read.
#ifndef COORDINATOR_STREAM_KEY_FILE_H_
#define COORDINATOR_STREAM_KEY_FILE_H_

#include <string>

#include <absl/status/statusor.h>
#include "net/stream_key.h"

namespace bspnow::coordinator {

/// What the file holds; it is made, with a new key, if there is none. A file that is damaged, or
/// that others may read, is an error, which says what to do: no key is replaced unasked.
absl::StatusOr<StreamKey> OpenStreamKey(const std::string& path);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_STREAM_KEY_FILE_H_
