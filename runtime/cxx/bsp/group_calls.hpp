// What bsp::group stands on: the calls of pub.h, which does not go into one file with bsp.h, and
// operations as its reductions take them.
#ifndef BSP_GROUP_CALLS_HPP_
#define BSP_GROUP_CALLS_HPP_

#include <bsp/basis.hpp>
#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace bsp {

namespace detail {

// t_bsp, t_bspop and t_bspmsg of pub.h.
struct pub_object {
  unsigned long mark;
  void* object;
};
struct pub_operation {
  int size;
  void (*combine)(void* result, const void* left, const void* right, int count, void* param);
};
struct pub_message;

extern "C" {
// As bsp_threadsafe_dup, of all processes of the SPMD section, whose own calls are BSPlib's.
void bsp_pub_dup_section(pub_object* dupbsp);
int bsp_pub_nprocs(pub_object* bsp);
int bsp_pub_pid(pub_object* bsp);
void bsp_partition(pub_object* bsp, pub_object* subbsp, int n, int* part);
void bsp_dup(pub_object* bsp, pub_object* dupbsp);
void bsp_threadsafe_dup(pub_object* bsp, pub_object* dupbsp);
void bsp_done(pub_object* bsp);
void bsp_pub_sync(pub_object* bsp);
void bsp_oblsync(pub_object* bsp, int n);
void bsp_pub_send(pub_object* bsp, int dest, const void* buf, int size);
void bsp_pub_hpsend(pub_object* bsp, int dest, const void* buf, int size);
void bsp_gsend(pub_object* bsp, int first, int last, const void* buf, int size);
void bsp_hpgsend(pub_object* bsp, int first, int last, const void* buf, int size);
int bsp_nmsgs(pub_object* bsp);
pub_message* bsp_getmsg(pub_object* bsp, int i);
pub_message* bsp_findmsg(pub_object* bsp, int src, int i);
void* bspmsg_data(pub_message* msg);
int bspmsg_size(pub_message* msg);
int bspmsg_src(pub_message* msg);
void bsp_gallreduce(pub_object* bsp, int first, int last, const void* sbuf, void* rbuf, int count,
                    const pub_operation* op, void* param);
void bsp_gscan(pub_object* bsp, int first, int last, const void* sbuf, void* rbuf, int count,
               const pub_operation* op, void* param);
}

// The calls take an int. Nothing is left of this for a single element.
template <typename T>
BSP_INLINE_ int int_bytes(const char* call, std::size_t size) {
  if (__builtin_expect(size > INT_MAX / sizeof(T), 0)) {
    bsp_fail(call, "%zu elements of %zu bytes are more than 2 GiB; take less at a time", size,
             sizeof(T));
  }
  return static_cast<int>(size * sizeof(T));
}

// An operation on elements of type T, which is used when the superstep ends. What fits into a
// pointer goes along with the call; else its state lies with the program, which keeps it.
template <typename T, typename Op>
struct kept_operation {
  static constexpr bool fits = std::is_trivially_copyable_v<Op> && sizeof(Op) <= sizeof(void*);

  static void* parameter(Op& op) noexcept {
    if constexpr (fits) {
      void* bytes = nullptr;
      std::memcpy(&bytes, std::addressof(op), sizeof op);
      return bytes;
    } else {
      return const_cast<std::remove_const_t<Op>*>(std::addressof(op));
    }
  }

  static void combine_elements(void* result, const void* left, const void* right, int count,
                               void* param) {
    ending_job_if_it_throws("an operation", [&] {
      Op& op = *static_cast<Op*>(fits ? static_cast<void*>(&param) : param);
      for (int i = 0; i < count; ++i) {
        static_cast<T*>(result)[i] =
            op(static_cast<const T*>(left)[i], static_cast<const T*>(right)[i]);
      }
    });
  }

  static constexpr pub_operation as_pub{sizeof(T), &combine_elements};
};

}  // namespace detail

}  // namespace bsp

#endif  // BSP_GROUP_CALLS_HPP_
