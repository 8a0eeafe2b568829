// What the parts of bsp.hpp have in common: the calls with sizes of std::size_t, what may be sent,
// and what an exception does.
#ifndef BSP_BASIS_HPP_
#define BSP_BASIS_HPP_

#if __cplusplus < 201703L
#error "bsp.hpp needs C++17: compile with -std=c++17 or later"
#endif

#include <bsp.h>

#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#if defined(__GNUC__) || defined(__clang__)
// Inlined without optimisation, too: an error names the line of the program, and not one of this
// file.
#define BSP_INLINED_ __attribute__((__always_inline__))  // Of a lambda, after its parameters.
#define BSP_INLINE_ BSP_INLINED_ inline
#else
#define BSP_INLINED_
#define BSP_INLINE_ inline
#endif
// Calls functions of libbsp by addresses, whose arguments have other names here than in pub.h.
#if defined(__clang__)
#define BSP_OWN_TYPES_ __attribute__((no_sanitize("function")))
#else
#define BSP_OWN_TYPES_
#endif

namespace bsp {

namespace detail {

// The symbols of the dialect with sizes of std::size_t, whichever one bsp.h shows.
extern "C" {
unsigned bsp_mc_nprocs(void);
unsigned bsp_mc_pid(void);
void bsp_mc_push_reg(const void* ident, std::size_t size) BSP_ADDRESS_ONLY_;
void bsp_mc_put(unsigned pid, const void* src, void* dst, std::size_t offset, std::size_t nbytes);
void bsp_mc_hpput(unsigned pid, const void* src, void* dst, std::size_t offset, std::size_t nbytes);
void bsp_mc_get(unsigned pid, const void* src, std::size_t offset, void* dst, std::size_t nbytes);
void bsp_mc_hpget(unsigned pid, const void* src, std::size_t offset, void* dst, std::size_t nbytes);
void bsp_mc_direct_get(unsigned pid, const void* src, std::size_t offset, void* dst,
                       std::size_t nbytes);
void bsp_mc_set_tagsize(std::size_t* tag_nbytes);
void bsp_mc_send(unsigned pid, const void* tag, const void* payload, std::size_t payload_nbytes);
void bsp_mc_hpsend(unsigned pid, const void* tag, const void* payload, std::size_t payload_nbytes);
void bsp_mc_qsize(unsigned* nmessages, std::size_t* accum_nbytes);
std::size_t bsp_mc_hpmove(void** tag_ptr, void** payload_ptr);
std::size_t bsp_mc_sent_tagsize(void);
std::size_t bsp_mc_queue_tagsize(void);
void bsp_mc_checkpoint_register(void* data, std::size_t nbytes);
}

template <typename T>
constexpr void require_trivially_copyable() {
  static_assert(std::is_trivially_copyable_v<T>,
                "BSP copies elements byte by byte: their type must be trivially copyable (no "
                "std::string, std::vector or pointer-owning class; send what they hold. No "
                "std::pair or std::tuple; use a struct)");
  static_assert(!std::is_pointer_v<T>,
                "a pointer means nothing in the memory of another process; send what it points at");
}

// The element type of a contiguous range; void of anything else.
template <typename X, typename = void>
struct element_of {
  using type = void;
};
template <typename X>
struct element_of<X, std::void_t<decltype(std::data(std::declval<X&>())),
                                 decltype(std::size(std::declval<X&>()))>> {
  using type = std::remove_pointer_t<decltype(std::data(std::declval<X&>()))>;
};
template <typename X>
using element_t = typename element_of<X>::type;
template <typename X>
inline constexpr bool is_range = !std::is_void_v<element_t<X>>;
template <typename X>
using if_range = std::enable_if_t<is_range<std::remove_reference_t<X>>, int>;

// Calls `f`. What it throws ends the job in the name of `call`.
template <typename F>
void ending_job_if_it_throws(const char* call, F&& f) {
#ifdef __cpp_exceptions
  try {
    f();
  } catch (const std::exception& e) {
    bsp_fail(call, "an exception left it: %s", e.what());
  } catch (...) {
    bsp_fail(call, "an exception left it, which is no std::exception");
  }
#else
  f();
#endif
}

}  // namespace detail

/// A part of an array: elements that belong to somebody else.
template <typename T>
class view {
 public:
  constexpr view(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// `count` elements from `first` on. Error: they are not all in here.
  BSP_INLINE_ view slice(std::size_t first, std::size_t count) const {
    if (first > size_ || count > size_ - first) {
      bsp_fail("bsp::view::slice", "elements %zu to %zu of %zu do not exist", first, first + count,
               size_);
    }
    return view(data_ + first, count);
  }

 private:
  T* data_;
  std::size_t size_;
};

namespace detail {

template <typename X>
constexpr auto view_of(X& x) {
  if constexpr (is_range<X>) {
    require_trivially_copyable<std::remove_cv_t<element_t<X>>>();
    return view<element_t<X>>(std::data(x), std::size(x));
  } else {
    require_trivially_copyable<std::remove_cv_t<X>>();
    return view<X>(std::addressof(x), 1);
  }
}

}  // namespace detail

}  // namespace bsp

#endif  // BSP_BASIS_HPP_
