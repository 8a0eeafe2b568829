#include "worker/core/event_text.h"

#include <cstdint>
#include <string>

namespace bspnow::worker {
namespace {

// Bytes of the character that begins at `at`; 0 if none does (RFC 3629, section 4).
std::size_t CharacterBytes(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<std::uint8_t>(text[at + i]) : std::uint8_t{0};
  };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (bytes == 0 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const std::uint8_t second = byte(1);  // Else too long, a surrogate, or beyond U+10FFFF.
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return bytes;
}

void MakeValid(std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = CharacterBytes(text, at);
    if (bytes == 0) text[at] = '?';
    at += bytes == 0 ? 1 : bytes;
  }
}

}  // namespace

void MakeTextValid(proto::WorkerEvent& event) {
  if (event.has_not_started()) MakeValid(*event.mutable_not_started()->mutable_reason());
  if (event.has_broken()) MakeValid(*event.mutable_broken()->mutable_reason());
  if (event.has_restore_failed()) MakeValid(*event.mutable_restore_failed()->mutable_reason());
  if (event.has_checkpoint_failed())
    MakeValid(*event.mutable_checkpoint_failed()->mutable_reason());
  if (event.has_checkpoint_copied())
    MakeValid(*event.mutable_checkpoint_copied()->mutable_failure());
}

}  // namespace bspnow::worker
