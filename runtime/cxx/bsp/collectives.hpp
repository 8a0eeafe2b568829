// Collective calls, those of bsp_level1.h. All processes make each of them alike. A call ends the
// superstep, as world::sync does, and takes one or more; its cost is that of the call it names.
#ifndef BSP_COLLECTIVES_HPP_
#define BSP_COLLECTIVES_HPP_

#include <bsp_level1.h>
#include <bsp/world.hpp>
#include <climits>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <vector>

namespace bsp {

namespace detail {

inline constexpr std::size_t piece_bytes_max = std::size_t{1} << 30;  // The calls take an int.

/// Calls `move(first, count)` for pieces of `size` elements, whose sizes fit into an int.
template <typename T, typename Move>
BSP_INLINE_ void in_pieces(std::size_t size, Move&& move) {
  constexpr std::size_t most = piece_bytes_max / sizeof(T);
  static_assert(most > 0, "an element of more than 1 GiB");
  std::size_t first = 0;
  do {  // Of no elements, too: the call ends a superstep.
    const std::size_t count = size - first < most ? size - first : most;
    move(first, count);
    first += count;
  } while (first < size);
}

template <typename T>
BSP_INLINE_ int block_bytes(const char* call, std::size_t size) {
  if (size > INT_MAX / sizeof(T)) {
    bsp_fail(call, "%zu elements of %zu bytes are more than 2 GiB; move less at a time", size,
             sizeof(T));
  }
  return static_cast<int>(size * sizeof(T));
}

// bsp_fold takes a function without a parameter of its own: an operation with state is found by its
// type, during the call.
template <typename T, typename Op>
struct operation {
  static inline Op* running = nullptr;

  static void combine(void* result, void* left, void* right, int* nbytes) {
    ending_job_if_it_throws("an operation", [=] {
      const std::size_t count = static_cast<std::size_t>(*nbytes) / sizeof(T);
      for (std::size_t i = 0; i < count; ++i) {
        static_cast<T*>(result)[i] =
            (*running)(static_cast<const T*>(left)[i], static_cast<const T*>(right)[i]);
      }
    });
  }
};

// `call` is bsp_fold_elements or bsp_scan_elements.
using elements_call = void (*)(void (*)(void*, void*, void*, int*), void*, void*, int, int);

template <typename T, typename Op>
BSP_INLINE_ void combine_all(elements_call call, const T* src, T* dst, std::size_t size, Op& op) {
  require_trivially_copyable<T>();
  static_assert(alignof(T) <= 16, "values of a reduction are aligned to 16 bytes");
  static_assert(std::is_convertible_v<std::invoke_result_t<Op&, const T&, const T&>, T>,
                "the operation takes two elements and gives one");
  operation<T, Op>::running = std::addressof(op);
  in_pieces<T>(size, [&](std::size_t first, std::size_t count) BSP_INLINED_ {
    call(&operation<T, Op>::combine, const_cast<T*>(src + first), dst + first,
         static_cast<int>(count), static_cast<int>(sizeof(T)));
  });
  free_ended_arrays();
}

}  // namespace detail

/// bsp_bcast: x of `root` becomes x on all processes; of a range, which has one size on all.
template <typename X>
BSP_INLINE_ void broadcast(int root, X&& x) {
  const auto elements = detail::view_of(x);
  using T = std::remove_reference_t<decltype(elements[0])>;
  detail::in_pieces<T>(elements.size(), [&](std::size_t first, std::size_t count) BSP_INLINED_ {
    T* const piece = elements.data() + first;
    bsp_bcast(root, piece, piece, static_cast<int>(count * sizeof(T)));
  });
  detail::free_ended_arrays();
}

/// bsp_fold: x of pid 0, op x of pid 1, and so on, on all processes. `op` is associative, and may
/// have state; it sees the values in the order of the pids.
template <typename T, typename Op = std::plus<>>
BSP_INLINE_ T reduce(const T& x, Op op = Op()) {
  T result = x;
  detail::combine_all(&bsp_fold_elements, &x, &result, 1, op);
  return result;
}

/// bsp_scan: the same of the x of pids 0 to this one, this one included.
template <typename T, typename Op = std::plus<>>
BSP_INLINE_ T scan(const T& x, Op op = Op()) {
  T result = x;
  detail::combine_all(&bsp_scan_elements, &x, &result, 1, op);
  return result;
}

/// Both for ranges of one size on all processes: element by element, in place.
template <typename Range, typename Op = std::plus<>, detail::if_range<Range> = 0>
BSP_INLINE_ void reduce_elements(Range&& x, Op op = Op()) {
  detail::combine_all(&bsp_fold_elements, std::data(x), std::data(x), std::size(x), op);
}
template <typename Range, typename Op = std::plus<>, detail::if_range<Range> = 0>
BSP_INLINE_ void scan_elements(Range&& x, Op op = Op()) {
  detail::combine_all(&bsp_scan_elements, std::data(x), std::data(x), std::size(x), op);
}

/// bsp_gather: the x of all processes in the order of pids, on `root`; elsewhere nothing.
template <typename T>
BSP_INLINE_ std::vector<T> gather(int root, const T& x) {
  detail::require_trivially_copyable<T>();
  const bool is_root = detail::bsp_mc_pid() == static_cast<unsigned>(root);
  std::vector<T> all(is_root ? detail::bsp_mc_nprocs() : 0, x);
  bsp_gather(root, const_cast<T*>(std::addressof(x)), all.data(),
             detail::block_bytes<T>("bsp::gather", 1));
  detail::free_ended_arrays();
  return all;
}

/// bsp_scatter: block i of `blocks` on `root` becomes x on process i; all x are of one size, and
/// `blocks`, which counts on root alone, has p times as many elements.
template <typename Range, typename X>
BSP_INLINE_ void scatter(int root, const Range& blocks, X&& x) {
  const auto mine = detail::view_of(x);
  const auto all = detail::view_of(blocks);
  using T = std::remove_reference_t<decltype(mine[0])>;
  using Block = std::remove_reference_t<decltype(all[0])>;  // Of a const span it need not be const.
  static_assert(std::is_same_v<T, std::remove_cv_t<Block>>,
                "the blocks have elements of another type");
  if (detail::bsp_mc_pid() == static_cast<unsigned>(root) &&
      all.size() != mine.size() * detail::bsp_mc_nprocs()) {
    bsp_fail("bsp::scatter", "the blocks have %zu elements, and %u processes want %zu each",
             all.size(), detail::bsp_mc_nprocs(), mine.size());
  }
  bsp_scatter(root, const_cast<T*>(all.data()), mine.data(),
              detail::block_bytes<T>("bsp::scatter", mine.size()));
  detail::free_ended_arrays();
}

/// bsp_exchange: block i of `src` goes to process i, where it becomes block j of the result, j
/// being this process. The size of `src` is a multiple of p, and the same on all.
template <typename T>
BSP_INLINE_ std::vector<T> exchange(const std::vector<T>& src) {
  detail::require_trivially_copyable<T>();
  const unsigned p = detail::bsp_mc_nprocs();
  if (src.size() % p != 0) {
    bsp_fail("bsp::exchange", "%zu elements cannot be cut into %u blocks of one size", src.size(),
             p);
  }
  std::vector<T> dst(src);
  bsp_exchange(const_cast<T*>(src.data()), dst.data(),
               detail::block_bytes<T>("bsp::exchange", src.size() / p));
  detail::free_ended_arrays();
  return dst;
}

}  // namespace bsp

#endif  // BSP_COLLECTIVES_HPP_
