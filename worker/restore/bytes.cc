// The four functions that a compiler calls of its own accord and that a library would have.
#include <cstddef>

extern "C" {

[[gnu::visibility("hidden")]] void* memcpy(void* to, const void* from, std::size_t bytes) {
  void* const result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return result;
}

[[gnu::visibility("hidden")]] void* memset(void* to, int value, std::size_t bytes) {
  void* const result = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}

[[gnu::visibility("hidden")]] void* memmove(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  if (target <= source) return memcpy(to, from, bytes);
  volatile unsigned char* back = target;
  while (bytes != 0) {
    --bytes;
    back[bytes] = source[bytes];
  }
  return to;
}

[[gnu::visibility("hidden")]] int memcmp(const void* left, const void* right, std::size_t bytes) {
  const volatile auto* a = static_cast<const unsigned char*>(left);
  const volatile auto* b = static_cast<const unsigned char*>(right);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

}  // extern "C"
