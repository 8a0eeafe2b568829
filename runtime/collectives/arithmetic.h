// What the typed reductions do with two numbers.
#ifndef RUNTIME_COLLECTIVES_ARITHMETIC_H_
#define RUNTIME_COLLECTIVES_ARITHMETIC_H_

namespace bspnow::runtime {

template <typename T>
T Sum(T x, T y) {
  return x + y;
}
template <>
inline int Sum(int x, int y) {  // Wraps, as sums of ints do on every machine that runs this.
  return static_cast<int>(static_cast<unsigned>(x) + static_cast<unsigned>(y));
}
template <typename T>
T Product(T x, T y) {
  return x * y;
}
template <>
inline int Product(int x, int y) {
  return static_cast<int>(static_cast<unsigned>(x) * static_cast<unsigned>(y));
}
template <typename T>
T Least(T x, T y) {
  return y < x ? y : x;
}
template <typename T>
T Greatest(T x, T y) {
  return x < y ? y : x;
}

}  // namespace bspnow::runtime

#endif  // RUNTIME_COLLECTIVES_ARITHMETIC_H_
