#include "base/raised_limits.h"

namespace bspnow {
namespace {

rlimit Raise(int resource) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &raised);
  return limit;
}

}  // namespace

RaisedLimits::RaisedLimits()
    : original_descriptors_(Raise(RLIMIT_NOFILE)),
      original_file_bytes_(Raise(RLIMIT_FSIZE)),
      descriptors_(original_descriptors_.rlim_max) {}

void RaisedLimits::Restore() const {
  setrlimit(RLIMIT_NOFILE, &original_descriptors_);
  setrlimit(RLIMIT_FSIZE, &original_file_bytes_);
}

}  // namespace bspnow
