// bsp::array and bsp::registration: memory that other processes can read and write (DRMA).
#ifndef BSP_MEMORY_HPP_
#define BSP_MEMORY_HPP_

#include <bsp/world.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace bsp {

/// The program's own memory, `size` elements at `data`, registered in a slot as long as this object
/// lives: bsp_push_reg, and at its end bsp_pop_reg. Both are collective, so all processes make and
/// end theirs in the same order; `data` and `size` may differ. To be used from the next superstep
/// on, and the memory must remain until the barrier after its end. Moved, it registers the same.
/// Cost: none. Errors of the calls: as those of bsp_put and bsp_get.
template <typename T>
class registration {
 public:
  BSP_INLINE_ registration(T* data, std::size_t size) : elements_(data, size) {
    detail::require_trivially_copyable<T>();
    detail::bsp_mc_push_reg(data, size * sizeof(T));
  }
  /// Of all elements of a contiguous range, which must not be moved or grow.
  template <typename Range, detail::if_range<Range> = 0>
  BSP_INLINE_ explicit registration(Range& range)
      : registration(std::data(range), std::size(range)) {}
  registration(registration&& other) noexcept
      : elements_(std::exchange(other.elements_, view<T>(nullptr, 0))),
        is_mine_(std::exchange(other.is_mine_, false)) {}
  registration& operator=(registration&& other) noexcept {
    std::swap(elements_, other.elements_);
    std::swap(is_mine_, other.is_mine_);
    return *this;
  }
  ~registration() {
    if (is_mine_) bsp_pop_reg(elements_.data());
  }

  T* data() const noexcept { return elements_.data(); }
  std::size_t size() const noexcept { return elements_.size(); }
  T* begin() const noexcept { return elements_.begin(); }
  T* end() const noexcept { return elements_.end(); }
  T& operator[](std::size_t i) const noexcept { return elements_[i]; }
  /// `count` elements from `first` on, of this process. Error: they are not all in here.
  BSP_INLINE_ view<T> slice(std::size_t first, std::size_t count) const {
    return elements_.slice(first, count);
  }

  /// bsp_put: copies x to the elements from `at` on of `pid`. Adds the bytes of x to h.
  BSP_INLINE_ void put(int pid, const T& x, std::size_t at = 0) const {
    detail::bsp_mc_put(static_cast<unsigned>(pid), &x, data(), at * sizeof(T), sizeof(T));
  }
  template <typename Range, detail::if_range<Range> = 0>
  BSP_INLINE_ void put(int pid, const Range& x, std::size_t at = 0) const {
    detail::bsp_mc_put(static_cast<unsigned>(pid), of_my_type(std::data(x)), data(), at * sizeof(T),
                       std::size(x) * sizeof(T));
  }
  /// bsp_hpput: the same, unbuffered; x must remain, and not change, until the barrier.
  template <typename Range, detail::if_range<Range> = 0>
  BSP_INLINE_ void hpput(int pid, const Range& x, std::size_t at = 0) const {
    detail::bsp_mc_hpput(static_cast<unsigned>(pid), of_my_type(std::data(x)), data(),
                         at * sizeof(T), std::size(x) * sizeof(T));
  }

  /// bsp_get: copies the elements from `at` on of `pid` to x, as many as x has, at the end of the
  /// superstep; x must remain until then. Adds the bytes of x to h.
  BSP_INLINE_ void get(int pid, std::size_t at, T& x) const {
    detail::bsp_mc_get(static_cast<unsigned>(pid), data(), at * sizeof(T), &x, sizeof(T));
  }
  template <typename Range, detail::if_range<Range> = 0>
  BSP_INLINE_ void get(int pid, std::size_t at, Range&& x) const {
    detail::bsp_mc_get(static_cast<unsigned>(pid), data(), at * sizeof(T), of_my_type(std::data(x)),
                       std::size(x) * sizeof(T));
  }
  /// bsp_hpget: the same, unbuffered.
  template <typename Range, detail::if_range<Range> = 0>
  BSP_INLINE_ void hpget(int pid, std::size_t at, Range&& x) const {
    detail::bsp_mc_hpget(static_cast<unsigned>(pid), data(), at * sizeof(T),
                         of_my_type(std::data(x)), std::size(x) * sizeof(T));
  }
  /// bsp_direct_get: the element `at` of `pid`, at once. It must not change in this superstep.
  BSP_INLINE_ T direct_get(int pid, std::size_t at) const {
    T x;
    detail::bsp_mc_direct_get(static_cast<unsigned>(pid), data(), at * sizeof(T), &x, sizeof(T));
    return x;
  }

 private:
  template <typename U>
  static constexpr U* of_my_type(U* elements) noexcept {
    static_assert(std::is_same_v<std::remove_cv_t<U>, T>,
                  "the range has elements of another type than the registered ones");
    return elements;
  }

  view<T> elements_;
  bool is_mine_ = true;
};

template <typename Range, detail::if_range<Range> = 0>
registration(Range&) -> registration<detail::element_t<Range>>;

namespace detail {

/// The memory of an array: elements, with a node before them.
template <typename T>
class block {
 public:
  explicit block(std::size_t size) {
    static_assert(alignof(T) <= array_alignment, "bsp::array has elements aligned to 64 bytes");
    static_assert(sizeof(ended_array) <= array_alignment);
    if (size > (SIZE_MAX - array_alignment) / sizeof(T)) {
      bsp_fail("bsp::array", "%zu elements of %zu bytes are more than there is", size, sizeof(T));
    }
    free_ended_arrays();  // Of supersteps that a C call has ended.
    memory_ = allocate(array_alignment + size * sizeof(T));
  }
  block(block&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  block& operator=(block&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~block() {
    if (memory_ != nullptr) end_array(memory_);
  }

  T* data() const noexcept { return reinterpret_cast<T*>(memory_ + array_alignment); }

 private:
  std::byte* memory_;
};

}  // namespace detail

/// `size` elements of this process, and their registration. Collective, as that; sizes may differ.
/// Its memory remains until the barrier after its end, so that puts of its last superstep have
/// where to go, also if that is bsp_sync's, and if other sections are run before. Cost: the time to
/// fill it.
template <typename T>
class array : private detail::block<T>, public registration<T> {
 public:
  BSP_INLINE_ explicit array(std::size_t size, const T& value = T())
      : detail::block<T>(size), registration<T>(detail::block<T>::data(), size) {
    std::uninitialized_fill_n(data(), size, value);
  }
  array(array&&) noexcept = default;
  array& operator=(array&&) noexcept = default;

  using registration<T>::data;
};

}  // namespace bsp

#endif  // BSP_MEMORY_HPP_
