// The secret of a cluster's streams: the coordinator makes it and gives it to each worker that
// registers. See "Proofs" in docs/design.md.
#ifndef NET_STREAM_KEY_H_
#define NET_STREAM_KEY_H_

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bspnow {

class StreamKey {
 public:
  static constexpr std::size_t kBytes = 32;
  using Mac = std::array<std::byte, 32>;  ///< An HMAC-SHA256.

  /// None (yet): it proves nothing, and nothing is proven by it.
  StreamKey() = default;

  /// A new one, by the kernel's generator.
  static StreamKey Random();

  /// Nothing if these are not kBytes.
  static std::optional<StreamKey> FromBytes(std::string_view bytes);

  /// Of keys that this process has, so it takes what time it takes.
  bool operator==(const StreamKey&) const = default;

  bool empty() const { return !bytes_.has_value(); }

  /// The same, of a cluster whose streams are encrypted with it (net/stream_tls.h): so no stream
  /// can have the one without the other.
  StreamKey Encrypting() const {
    StreamKey key = *this;
    key.encrypts_ = true;
    return key;
  }
  bool encrypts() const { return encrypts_ && !empty(); }

  /// As FromBytes takes them; none if it is empty.
  std::string bytes() const;

  /// What only those who have the key can tell of this text. It must not be empty.
  Mac MacOf(std::span<const std::byte> text) const;

  /// The key that this one makes for what the text names: who has that one has neither this one nor
  /// those of other texts. It encrypts nothing.
  StreamKey For(std::string_view text) const;

 private:
  std::optional<std::array<std::byte, kBytes>> bytes_;
  bool encrypts_ = false;
};

/// In a time that does not depend on where they differ.
bool SameSecret(std::span<const std::byte> one, std::span<const std::byte> other);

/// Bytes that nobody can foresee, by the kernel's generator.
void FillRandom(std::span<std::byte> bytes);

}  // namespace bspnow

#endif  // NET_STREAM_KEY_H_
