// Files under another name than their own, as they are not whole yet: removed if a signal ends this
// program before they are.
#ifndef FILES_UNFINISHED_FILES_H_
#define FILES_UNFINISHED_FILES_H_

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/unique_fd.h"

namespace bspnow::files {

/// For any thread.
class UnfinishedFiles {
 public:
  /// A new file to write to; invalid, with errno set, if none can be made or one is there.
  UniqueFd Make(const std::string& path, mode_t mode);

  /// It is whole. False, with errno set, if it cannot be given that name.
  bool Finish(const std::string& path, const std::string& name);

  void Remove(const std::string& path);

  /// All of them, and nothing is made or finished from now on: whoever tries waits for the end.
  void RemoveForEnd();

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

/// SIGINT, SIGTERM and SIGHUP, where they are not ignored, end this program as ever, but these
/// files go first, and `words` are said on standard error. To be called once, and before there is
/// another thread that takes these signals.
void RemoveWhenEnded(std::shared_ptr<UnfinishedFiles> files, std::string words);

}  // namespace bspnow::files

#endif  // FILES_UNFINISHED_FILES_H_
