#include "files/unfinished_files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <utility>

#include "base/start_thread.h"
#include "base/write_all.h"

namespace bspnow::files {
namespace {

// By the signal itself: who waits for this program sees what ended it.
void EndBy(int ending, const sigset_t& watched) {
  signal(ending, SIG_DFL);
  raise(ending);
  pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);
}

}  // namespace

UniqueFd UnfinishedFiles::Make(const std::string& path, mode_t mode) {
  const std::scoped_lock lock(mutex_);
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (file.valid()) paths_.insert(path);
  return file;
}

bool UnfinishedFiles::Finish(const std::string& path, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (rename(path.c_str(), name.c_str()) != 0) return false;
  paths_.erase(path);
  return true;
}

void UnfinishedFiles::Remove(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  if (paths_.erase(path) > 0) unlink(path.c_str());
}

void UnfinishedFiles::RemoveForEnd() {
  mutex_.lock();  // For good.
  for (const std::string& path : paths_) unlink(path.c_str());
}

void RemoveWhenEnded(std::shared_ptr<UnfinishedFiles> files, std::string words) {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now;
    if (sigaction(ending, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&watched, ending);
  }
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &watched, &before);
  auto thread = StartThread([files = std::move(files), words = std::move(words), watched] {
    int ending = 0;
    while (sigwait(&watched, &ending) != 0) continue;
    files->RemoveForEnd();
    pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);  // Who reads no words ends it by a second one.
    WriteAll(STDERR_FILENO, words, "standard error").IgnoreError();
    EndBy(ending, watched);
  });
  if (!thread) {  // Then they stay.
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  thread->detach();
}

}  // namespace bspnow::files
