// The archive that job_files.cc writes and unpacked_files.cc reads; see job_files.h.
#ifndef FILES_JOB_FILES_FORMAT_H_
#define FILES_JOB_FILES_FORMAT_H_

#include <archive.h>
#include <archive_entry.h>
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace bspnow::files {

inline constexpr char kWhereName[] = "directory";
inline constexpr std::string_view kFilesPrefix = "files/";
inline constexpr std::string_view kLinesPrefix = "lines/";
inline constexpr std::size_t kFilePieceBytes = std::size_t{1} << 20;

/// Of all bytes of an archive, which follows them.
class ArchiveHash {
 public:
  ArchiveHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }
  void Add(const void* bytes, std::size_t size) { XXH3_64bits_update(state_.get(), bytes, size); }
  std::uint64_t Sum() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

struct FreeArchive {
  void operator()(archive* opened) const { archive_free(opened); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using ArchivePtr = std::unique_ptr<archive, FreeArchive>;
using EntryPtr = std::unique_ptr<archive_entry, FreeEntry>;

}  // namespace bspnow::files

#endif  // FILES_JOB_FILES_FORMAT_H_
