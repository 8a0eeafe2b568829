// The bytes of the archive that job_files.cc writes and unpacked_files.cc reads; see job_files.h.
#ifndef FILES_JOB_FILES_FORMAT_H_
#define FILES_JOB_FILES_FORMAT_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/write_all.h"

namespace bspnow {

inline constexpr std::uint64_t kArchiveMagic = 0x3253454c49465342;  // "BSFILES2"
inline constexpr std::size_t kFilePieceBytes = std::size_t{1} << 20;
inline constexpr std::int64_t kFileNsPerS = 1'000'000'000;

struct EntryHeader {
  enum Kind : std::uint32_t {
    kDirectory = 1,
    kFile = 2,
    kWhere = 3,  ///< Data: the path that the job's directory had.
    kLine = 4,   ///< Data: an unfinished line of `pid` on stream `mode`.
    kEnd = 5,
    kLink = 6,  ///< A symbolic link; data: what it leads to.
  };
  std::uint32_t kind = 0;
  std::uint32_t mode = 0;
  std::uint32_t pid = 0;
  std::uint32_t name_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::int64_t changed_ns = 0;  ///< Of what has a name: since 1970.
};
static_assert(sizeof(EntryHeader) == 32);

inline bool HasName(const EntryHeader& header) {
  return header.kind == EntryHeader::kFile || header.kind == EntryHeader::kDirectory ||
         header.kind == EntryHeader::kLink;
}

class EntryHash {
 public:
  EntryHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }
  void Add(std::string_view bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
  std::uint64_t Sum() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline absl::Status FileFailure(std::string_view what) {
  return absl::InternalError(absl::StrCat(std::string(what), ": ", strerror(errno)));
}

/// Zeros become a hole, so that a sparse file takes no more room than it did. What is written last
/// must not be zeros, or the length be set.
inline absl::Status WritePiece(int file, std::string_view bytes) {
  const bool zeros = bytes.size() == kFilePieceBytes && bytes.front() == 0 &&
                     memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
  if (zeros && lseek(file, static_cast<off_t>(bytes.size()), SEEK_CUR) >= 0) {
    return absl::OkStatus();
  }
  return WriteAll(file, bytes, "the files of the job");
}

}  // namespace bspnow

#endif  // FILES_JOB_FILES_FORMAT_H_
