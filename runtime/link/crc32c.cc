#include "runtime/link/crc32c.h"

#include <array>
#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace bspnow {
namespace {

constexpr std::uint32_t kCastagnoli = 0x82f63b78;  // Its bits in reverse.

using ByteTable = std::array<std::uint32_t, 256>;

constexpr ByteTable MakeTable() {
  ByteTable table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kCastagnoli : 0);
    table[i] = crc;
  }
  return table;
}
constexpr ByteTable kTable = MakeTable();

#if defined(__x86_64__)

// An instruction takes three cycles, and another can start in each: so long ranges are read as
// three at a time, and the remainders put together. Remainders are polynomials modulo Castagnoli's,
// the highest power in bit 0; that of a range followed by n bytes is times x^8n.
constexpr std::size_t kRangeBytes = 4096;

constexpr std::uint32_t Times(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if ((b >> bit & 1) != 0) product ^= a;
    a = a >> 1 ^ ((a & 1) != 0 ? kCastagnoli : 0);
  }
  return product;
}

constexpr std::uint32_t PowerOfX(std::size_t exponent) {
  std::uint32_t power = 1u << 31;
  std::uint32_t square = 1u << 30;
  for (; exponent != 0; exponent >>= 1, square = Times(square, square))
    if ((exponent & 1) != 0) power = Times(power, square);
  return power;
}

/// Multiplies by one power of x, a byte at a time.
class Shift {
 public:
  constexpr explicit Shift(std::size_t bytes) {
    const std::uint32_t power = PowerOfX(8 * bytes);
    for (int byte = 0; byte < 4; ++byte)
      for (std::uint32_t i = 0; i < 256; ++i) tables_[byte][i] = Times(i << 8 * byte, power);
  }
  std::uint32_t operator()(std::uint64_t crc) const {
    return tables_[0][crc & 0xff] ^ tables_[1][crc >> 8 & 0xff] ^ tables_[2][crc >> 16 & 0xff] ^
           tables_[3][crc >> 24 & 0xff];
  }

 private:
  std::array<ByteTable, 4> tables_{};
};
constexpr Shift kOneRange(kRangeBytes);
constexpr Shift kTwoRanges(2 * kRangeBytes);

std::uint64_t Word(const std::byte* at) {
  std::uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) std::uint32_t ByInstruction(std::uint32_t crc,
                                                              const std::byte* at,
                                                              std::size_t count) {
  std::uint64_t first = crc;
  for (; count >= 3 * kRangeBytes; at += 3 * kRangeBytes, count -= 3 * kRangeBytes) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kRangeBytes; i += sizeof first) {
      first = _mm_crc32_u64(first, Word(at + i));
      second = _mm_crc32_u64(second, Word(at + kRangeBytes + i));
      third = _mm_crc32_u64(third, Word(at + 2 * kRangeBytes + i));
    }
    first = kTwoRanges(first) ^ kOneRange(second) ^ third;
  }
  for (; count >= sizeof first; at += sizeof first, count -= sizeof first)
    first = _mm_crc32_u64(first, Word(at));
  crc = static_cast<std::uint32_t>(first);
  for (; count != 0; ++at, --count) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(*at));
  return crc;
}

// Wide multiplications without carry, where the processor has them: bytes that are `bytes` ahead of
// others are brought to their place, modulo Castagnoli's polynomial, and added. (Gopal et al.,
// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009.)
#define BY_FOLDING __attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2")))
constexpr std::size_t kFoldBytes = 256;

struct Factors {
  constexpr explicit Factors(std::size_t bytes)
      : low(PowerOfX(8 * bytes + 31)), high(PowerOfX(8 * bytes - 33)) {}
  std::uint64_t low;
  std::uint64_t high;
};
constexpr Factors kBy256(kFoldBytes);
constexpr Factors kBy64(64);
constexpr Factors kBy48(48);
constexpr Factors kBy32(32);
constexpr Factors kBy16(16);

BY_FOLDING inline __m512i Fold(__m512i ahead, const Factors& by, __m512i there) {
  const auto low = static_cast<long long>(by.low);
  const auto high = static_cast<long long>(by.high);
  const __m512i factors = _mm512_set_epi64(high, low, high, low, high, low, high, low);
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(ahead, factors, 0x00),
                                   _mm512_clmulepi64_epi128(ahead, factors, 0x11), there, 0x96);
}

BY_FOLDING inline __m128i Fold(__m128i ahead, const Factors& by, __m128i there) {
  const __m128i factors =
      _mm_set_epi64x(static_cast<long long>(by.high), static_cast<long long>(by.low));
  return _mm_xor_si128(there, _mm_xor_si128(_mm_clmulepi64_si128(ahead, factors, 0x00),
                                            _mm_clmulepi64_si128(ahead, factors, 0x11)));
}

// `count` is a multiple of kFoldBytes, and not 0.
BY_FOLDING std::uint32_t ByFolding(std::uint32_t crc, const std::byte* at, std::size_t count) {
  __m512i sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = _mm512_loadu_si512(at + 64 * i);
  sums[0] = _mm512_xor_si512(
      sums[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<std::int32_t>(crc))));
  for (at += kFoldBytes, count -= kFoldBytes; count != 0; at += kFoldBytes, count -= kFoldBytes)
    for (int i = 0; i < 4; ++i) sums[i] = Fold(sums[i], kBy256, _mm512_loadu_si512(at + 64 * i));
  for (int i = 0; i < 3; ++i) sums[i + 1] = Fold(sums[i], kBy64, sums[i + 1]);
  __m128i parts[4];
  _mm512_storeu_si512(parts, sums[3]);
  __m128i sum = Fold(parts[0], kBy48, parts[3]);
  sum = Fold(parts[1], kBy32, sum);
  sum = Fold(parts[2], kBy16, sum);
  const std::uint64_t half =
      _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_extract_epi64(sum, 0)));
  return static_cast<std::uint32_t>(
      _mm_crc32_u64(half, static_cast<std::uint64_t>(_mm_extract_epi64(sum, 1))));
}

/// What the processor has for it.
enum class Means { kUnknown, kTable, kInstruction, kFolding };

constinit std::atomic<Means> known_means{Means::kUnknown};  // tidy: the processor has no owner

std::uint64_t RegistersSaved() {
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

// Not __builtin_cpu_supports: it knows the processor on which the process began, and the process
// may have come back from an image on a lesser one.
Means LookAtProcessor() {
  constexpr std::uint64_t kOfAvx512 = 0xe6;  // In XCR0.
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_2) == 0) return Means::kTable;
  constexpr unsigned kNeeded = bit_PCLMUL | bit_OSXSAVE;
  if ((c & kNeeded) != kNeeded || (RegistersSaved() & kOfAvx512) != kOfAvx512 ||
      __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
    return Means::kInstruction;
  const bool folds = (b & bit_AVX512F) != 0 && (c & bit_VPCLMULQDQ) != 0;
  return folds ? Means::kFolding : Means::kInstruction;
}

Means PresentMeans() {
  Means means = known_means.load(std::memory_order_relaxed);
  if (means != Means::kUnknown) return means;
  means = LookAtProcessor();
  known_means.store(means, std::memory_order_relaxed);
  return means;
}

#endif

}  // namespace

void ForgetProcessor() {
#if defined(__x86_64__)
  known_means.store(Means::kUnknown, std::memory_order_relaxed);
#endif
}

std::uint32_t Crc32c(std::uint32_t before, const std::byte* bytes, std::size_t count) {
  std::uint32_t crc = ~before;
#if defined(__x86_64__)
  const Means means = PresentMeans();
  if (count >= 4 * kFoldBytes && means == Means::kFolding) {
    const std::size_t folded = count / kFoldBytes * kFoldBytes;
    crc = ByFolding(crc, bytes, folded);
    bytes += folded;
    count -= folded;
  }
  if (means != Means::kTable) return ~ByInstruction(crc, bytes, count);
#endif
  for (; count != 0; ++bytes, --count)
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(*bytes)) & 0xff];
  return ~crc;
}

}  // namespace bspnow
