#include "net/stream_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <sys/random.h>

#include "base/check.h"

namespace bspnow {
namespace {

constexpr std::size_t kWholeBytesMax = 256;  // As many getrandom gives whole: see its manual page.

}  // namespace

StreamKey StreamKey::Random() {
  StreamKey key;
  FillRandom(key.bytes_.emplace());
  return key;
}

std::optional<StreamKey> StreamKey::FromBytes(std::string_view bytes) {
  if (bytes.size() != kBytes) return std::nullopt;
  StreamKey key;
  memcpy(key.bytes_.emplace().data(), bytes.data(), kBytes);
  return key;
}

std::string StreamKey::bytes() const {
  if (empty()) return "";
  return {reinterpret_cast<const char*>(bytes_->data()), kBytes};
}

StreamKey::Mac StreamKey::MacOf(std::span<const std::byte> text) const {
  BSP_CHECK(!empty());
  Mac mac;
  unsigned mac_bytes = 0;
  const unsigned char* const made =
      HMAC(EVP_sha256(), bytes_->data(), static_cast<int>(kBytes),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(mac.data()), &mac_bytes);
  BSP_CHECK(made != nullptr);
  BSP_CHECK_OP(mac_bytes, ==, mac.size());
  return mac;
}

StreamKey StreamKey::For(std::string_view text) const {
  static_assert(sizeof(Mac) == kBytes);
  StreamKey key;
  key.bytes_ = MacOf(std::as_bytes(std::span(text)));
  return key;
}

bool SameSecret(std::span<const std::byte> one, std::span<const std::byte> other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

void FillRandom(std::span<std::byte> bytes) {
  BSP_CHECK_OP(bytes.size(), <=, kWholeBytesMax);
  BSP_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

}  // namespace bspnow
