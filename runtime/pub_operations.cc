// The operations on numbers of pub.h.
#include "runtime/collectives/arithmetic.h"
#include "runtime/pub.h"

namespace bspnow::runtime {
namespace {

/// Makes an operation of a function of two numbers.
template <typename T, T (*kCombine)(T, T)>
void CombineAll(void* result, const void* left, const void* right, int count, void*) {
  for (int i = 0; i < count; ++i) {
    static_cast<T*>(result)[i] =
        kCombine(static_cast<const T*>(left)[i], static_cast<const T*>(right)[i]);
  }
}

}  // namespace
}  // namespace bspnow::runtime

using namespace bspnow::runtime;  // NOLINT: the definitions below are in C's namespace.

extern "C" {

#define PUB_OPERATIONS(TYPE)                                                             \
  const t_bspop bspop_add##TYPE[1] = {{sizeof(TYPE), &CombineAll<TYPE, Sum<TYPE>>}};     \
  const t_bspop bspop_mul##TYPE[1] = {{sizeof(TYPE), &CombineAll<TYPE, Product<TYPE>>}}; \
  const t_bspop bspop_min##TYPE[1] = {{sizeof(TYPE), &CombineAll<TYPE, Least<TYPE>>}};   \
  const t_bspop bspop_max##TYPE[1] = {{sizeof(TYPE), &CombineAll<TYPE, Greatest<TYPE>>}};

PUB_OPERATIONS(int)
PUB_OPERATIONS(float)
PUB_OPERATIONS(double)

}  // extern "C"
