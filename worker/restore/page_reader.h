// Reads pages of a file to many places, with few calls: pieces that follow each other in the file
// are gathered.
#ifndef WORKER_RESTORE_PAGE_READER_H_
#define WORKER_RESTORE_PAGE_READER_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace bspnow::worker::restore {

class PageReader {
 public:
  /// `name` is for messages.
  PageReader(int file, const char* name) : file_(file), name_(name) {}

  void Add(void* place, std::uint64_t bytes, std::uint64_t offset);

  /// Nothing is left to read when it returns.
  void Finish();

 private:
  static constexpr std::size_t kPiecesMax = 1024;  // IOV_MAX

  int file_;
  const char* name_;
  std::uint64_t offset_ = 0;  ///< Of the first piece.
  std::uint64_t bytes_ = 0;   ///< Of all of them.
  std::size_t count_ = 0;
  iovec pieces_[kPiecesMax];
};

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_PAGE_READER_H_
