#include "coordinator/content_checks.h"

#include <utility>

namespace bspnow::coordinator {

ContentChecks::ContentChecks(const Uploads& uploads, PostEvent post)
    : uploads_(uploads), post_(std::move(post)), thread_([this] { Run(); }) {}

ContentChecks::~ContentChecks() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
}

void ContentChecks::FindMissing(const std::string& user, std::set<std::string> contents,
                                Missing missing) {
  {
    const std::lock_guard lock(mutex_);
    checks_.push_back(
        {.user = user, .contents = std::move(contents), .missing = std::move(missing)});
  }
  changed_.notify_all();
}

void ContentChecks::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !checks_.empty(); });
    if (ending_) return;
    Check check = std::move(checks_.front());
    checks_.pop_front();
    lock.unlock();
    std::string sha256 = FirstMissing(check);
    post_([missing = std::move(check.missing), sha256 = std::move(sha256)] { missing(sha256); });
    lock.lock();
  }
}

std::string ContentChecks::FirstMissing(const Check& check) const {
  for (const std::string& sha256 : check.contents)
    if (!uploads_.Has(check.user, sha256)) return sha256;
  return "";
}

}  // namespace bspnow::coordinator
