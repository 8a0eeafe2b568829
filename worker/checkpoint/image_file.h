// Reads and checks image files (runtime/image/image_format.h): whether a file is complete, and what
// a restore from it needs. Nothing in a file is trusted before it has been checked: the file may be
// torn, contain flipped bits, or be hostile.
#ifndef WORKER_CHECKPOINT_IMAGE_FILE_H_
#define WORKER_CHECKPOINT_IMAGE_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "runtime/image/image_format.h"

namespace bspnow::worker {

/// What header and tables of an image say; no page is read for it.
struct ImageFacts {
  ImageKind kind;
  JobId job;
  Pid pid;
  std::uint32_t nprocs;
  std::uint64_t checkpoint;
  std::uint64_t base;  ///< 0: it stands alone.
  std::uint64_t superstep;
  std::uint64_t file_bytes;
  std::uint64_t data_bytes;        ///< Pages that it holds.
  std::vector<std::string> texts;  ///< Names of the text files that it needs: text-<HASH>.
  std::string directory;           ///< The working directory; empty for areas.
  std::string cpu_features;        ///< Names as in /proc/cpuinfo, by blanks; empty for areas.
  std::uint64_t xcr0 = 0;
  std::vector<std::string> opened;  ///< Paths of its open regular files.
};

/// Checks header and tables: magic, version, completeness, header hash, every offset and length.
/// Reads no pages. Messages call the file `name`.
absl::StatusOr<ImageFacts> ReadImageFacts(int file, const std::string& name);

/// ReadImageFacts, and every checksum of the file. DataLoss: incomplete or damaged; the message
/// names file, pid and chunk.
absl::StatusOr<ImageFacts> VerifyImage(const std::string& path);
absl::StatusOr<ImageFacts> VerifyImage(int file, const std::string& name);

/// Whether the content of a file has the hash in its final name, text-<HASH>. The file may still
/// have another name.
absl::Status VerifyText(int file, const std::string& name);

/// The name of an image file, and of a text file.
std::string ImageName(std::uint64_t checkpoint, Pid pid);
std::string TextName(const ImageText& text);

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGE_FILE_H_
