#include "worker/checkpoint/images_token.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <span>

namespace bspnow::worker {
namespace {

// No proof of a stream begins so (net/stream_proof.cc).
constexpr std::string_view kLabel = "images";

}  // namespace

void ImagesToken::Set(const StreamKey& key) {
  std::string authorization;
  if (!key.empty()) {
    const StreamKey::Mac mac = key.MacOf(std::as_bytes(std::span(kLabel)));
    const std::string bytes(reinterpret_cast<const char*>(mac.data()), mac.size());
    authorization = absl::StrCat("Bearer ", absl::BytesToHexString(bytes));
  }
  const std::scoped_lock lock(mutex_);
  authorization_ = authorization;
}

std::string ImagesToken::authorization() const {
  const std::scoped_lock lock(mutex_);
  return authorization_;
}

bool ImagesToken::Opens(std::string_view authorization) const {
  const std::string right = this->authorization();
  return !right.empty() &&
         SameSecret(std::as_bytes(std::span(authorization)), std::as_bytes(std::span(right)));
}

}  // namespace bspnow::worker
