// The bar that shows an upload which takes a while, on a terminal.
#ifndef CLIENT_VIEW_UPLOAD_PROGRESS_H_
#define CLIENT_VIEW_UPLOAD_PROGRESS_H_

#include <cstdint>
#include <string>

namespace bspnow::client {

/// One line without its end, at most `columns` wide: a bar, bytes, rate.
std::string ProgressText(std::uint64_t done, std::uint64_t all, std::uint64_t elapsed_ns,
                         std::size_t columns);

class UploadProgress {
 public:
  UploadProgress();

  /// Wipes the bar away.
  ~UploadProgress();

  /// Shows the bar on standard error if that is a terminal and half a second has passed.
  void Show(std::uint64_t done, std::uint64_t all);

 private:
  std::uint64_t start_ns_;
  std::uint64_t shown_ns_ = 0;  ///< 0: never.
};

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_UPLOAD_PROGRESS_H_
