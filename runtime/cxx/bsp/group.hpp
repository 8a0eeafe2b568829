// bsp::group: processes with a numbering, messages and supersteps of their own, as PUB has them
// (pub.h, where each call's cost stands). They are made and left without communication.
//
//   bsp::group all(world);
//   bsp::group half = all.partition({all.nprocs() / 2, all.nprocs()});
//   half.send(0, half.pid());
//   half.sync();
//   for (auto& m : half.messages<int>()) std::printf("%d from %d\n", m.value(), m.source());
#ifndef BSP_GROUP_HPP_
#define BSP_GROUP_HPP_

#include <bsp/basis.hpp>
#include <bsp/group_calls.hpp>
#include <bsp/group_messages.hpp>
#include <bsp/world.hpp>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

namespace bsp {

/// One member's end of a group, open as long as this object, which can be moved and not copied.
/// Groups are closed in the opposite order of their making, as blocks of braces close them: those
/// made of one bsp::group(world), or of one threadsafe_dup. Error: another order; a group that is
/// open when the function given to bsp::run is left. One thread at a time uses a group.
class group {
 public:
  /// All processes of the world, which all make it; the world's own messages and supersteps go on
  /// beside it. Local: O(p) of computing.
  BSP_INLINE_ explicit group(const world&) : group() {
    detail::bsp_pub_dup_section(&object_);
    know_place();
  }
  group(group&& other) noexcept
      : object_(std::exchange(other.object_, {})), pid_(other.pid_), nprocs_(other.nprocs_) {}
  /// Closes the group that was here.
  group& operator=(group&& other) noexcept {
    if (this == &other) return *this;
    leave();
    object_ = std::exchange(other.object_, {});
    pid_ = other.pid_;
    nprocs_ = other.nprocs_;
    return *this;
  }
  ~group() { leave(); }

  /// This process in the group, 0 <= pid() < nprocs(), and p. Local.
  int pid() const noexcept { return pid_; }
  int nprocs() const noexcept { return nprocs_; }

  /// bsp_partition: the group of pids ends[i - 1] to ends[i] - 1 in which this process is. All
  /// processes of this group call it with the same ends, which ascend to p. Local.
  BSP_INLINE_ group partition(std::initializer_list<int> ends) {
    return part(ends.begin(), ends.size());
  }
  template <typename Range, detail::if_range<Range> = 0>
  BSP_INLINE_ group partition(const Range& ends) {
    return part(std::data(ends), std::size(ends));
  }
  /// bsp_dup: the same processes once more, with messages of their own. All call it. Local.
  BSP_INLINE_ group dup() { return made_by(&detail::bsp_dup); }
  /// bsp_threadsafe_dup: the same, for another thread of this process.
  BSP_INLINE_ group threadsafe_dup() { return made_by(&detail::bsp_threadsafe_dup); }

  /// bsp_sync of the group: ends its superstep. Cost: h*g + l.
  BSP_INLINE_ void sync() { detail::bsp_pub_sync(&object_); }
  /// bsp_oblsync: the same, as soon as the `messages` are here that are sent to this process. A
  /// reduction or scan is one message.
  BSP_INLINE_ void oblsync(int messages) { detail::bsp_oblsync(&object_, messages); }

  /// bsp_send: x, an element or a range, goes to `pid`, to be read in the next superstep. Copied
  /// before the call returns. Adds its bytes to h.
  template <typename X>
  BSP_INLINE_ void send(int pid, const X& x) {
    const auto payload = detail::view_of(x);
    detail::bsp_pub_send(&object_, pid, payload.data(), bytes_of("bsp::group::send", payload));
  }
  /// bsp_gsend: to the pids `first` to `last`.
  template <typename X>
  BSP_INLINE_ void send(int first, int last, const X& x) {
    const auto payload = detail::view_of(x);
    detail::bsp_gsend(&object_, first, last, payload.data(), bytes_of("bsp::group::send", payload));
  }
  /// bsp_hpsend and bsp_hpgsend: the same, unbuffered; x must not change until the end of the
  /// superstep.
  template <typename X>
  BSP_INLINE_ void hpsend(int pid, const X& x) {
    const auto payload = detail::view_of(x);
    detail::bsp_pub_hpsend(&object_, pid, payload.data(), bytes_of("bsp::group::hpsend", payload));
  }
  template <typename X>
  BSP_INLINE_ void hpsend(int first, int last, const X& x) {
    const auto payload = detail::view_of(x);
    detail::bsp_hpgsend(&object_, first, last, payload.data(),
                        bytes_of("bsp::group::hpsend", payload));
  }

  /// What was sent to this process in the last superstep: messages<T>().size(), [i], from(pid), and
  /// a range. Local.
  template <typename T>
  all_group_messages<T> messages() const {
    detail::require_trivially_copyable<T>();
    static_assert(alignof(T) <= alignof(std::max_align_t),
                  "a message is aligned for ordinary types");
    return all_group_messages<T>(object_);
  }

  /// bsp_gallreduce and bsp_gscan of the whole group: x of pid 0, op x of pid 1, and so on, up to
  /// the last pid, or to this one. The superstep goes on; `result`, which may be x, has it when
  /// that ends, and must stay until then. All call it alike. Cost: p times the bytes of x, times g.
  template <typename T, typename Op = std::plus<>>
  BSP_INLINE_ void reduce(const T& x, T& result, Op&& op = Op()) {
    combine(&detail::bsp_gallreduce, &x, &result, 1, op, std::is_lvalue_reference<Op>());
  }
  template <typename T, typename Op = std::plus<>>
  BSP_INLINE_ void scan(const T& x, T& result, Op&& op = Op()) {
    combine(&detail::bsp_gscan, &x, &result, 1, op, std::is_lvalue_reference<Op>());
  }
  /// Both for ranges of one size on all processes: element by element, in place.
  template <typename Range, typename Op = std::plus<>, detail::if_range<Range> = 0>
  BSP_INLINE_ void reduce_elements(Range&& x, Op&& op = Op()) {
    combine(&detail::bsp_gallreduce, std::data(x), std::data(x), std::size(x), op,
            std::is_lvalue_reference<Op>());
  }
  template <typename Range, typename Op = std::plus<>, detail::if_range<Range> = 0>
  BSP_INLINE_ void scan_elements(Range&& x, Op&& op = Op()) {
    combine(&detail::bsp_gscan, std::data(x), std::data(x), std::size(x), op,
            std::is_lvalue_reference<Op>());
  }

 private:
  group() noexcept = default;

  void leave() noexcept {
    if (object_.mark != 0) detail::bsp_done(&object_);
  }
  BSP_INLINE_ void know_place() {
    pid_ = detail::bsp_pub_pid(&object_);
    nprocs_ = detail::bsp_pub_nprocs(&object_);
  }
  BSP_INLINE_ BSP_OWN_TYPES_ group made_by(void (*make)(detail::pub_object*, detail::pub_object*)) {
    group made;
    make(&object_, &made.object_);
    made.know_place();
    return made;
  }
  template <typename Int>
  BSP_INLINE_ group part(const Int* ends, std::size_t count) {
    static_assert(std::is_same_v<Int, int>, "where parts end are pids, and those are int");
    group made;
    detail::bsp_partition(&object_, &made.object_, static_cast<int>(count), const_cast<int*>(ends));
    made.know_place();
    return made;
  }
  template <typename T>
  BSP_INLINE_ static int bytes_of(const char* call, const view<T>& payload) {
    return detail::int_bytes<T>(call, payload.size());
  }

  template <typename T, typename R, typename A, typename B, typename Stays>
  BSP_INLINE_ void combine(decltype(&detail::bsp_gscan) call, const T* x, T* result,
                           std::size_t size, R (&op)(A, B), Stays) {
    auto* pointer = &op;
    combine(call, x, result, size, pointer, Stays());
  }
  template <typename T, typename Op, typename Stays>
  BSP_INLINE_ BSP_OWN_TYPES_ void combine(decltype(&detail::bsp_gscan) call, const T* x, T* result,
                                          std::size_t size, Op& op, Stays) {
    detail::require_trivially_copyable<T>();
    static_assert(alignof(T) <= alignof(std::max_align_t), "values are aligned for ordinary types");
    static_assert(std::is_convertible_v<std::invoke_result_t<Op&, const T&, const T&>, T>,
                  "the operation takes two elements and gives one");
    using operation = detail::kept_operation<T, Op>;
    static_assert(Stays::value || operation::fits,
                  "an operation with more state than a pointer is needed until the superstep ends: "
                  "keep it in a variable until then, and give that");
    detail::int_bytes<T>("bsp::group::reduce", size);
    call(&object_, 0, nprocs_ - 1, x, result, static_cast<int>(size), &operation::as_pub,
         operation::parameter(op));
  }

  detail::pub_object object_{0, nullptr};
  int pid_ = 0;
  int nprocs_ = 0;
};

}  // namespace bsp

#endif  // BSP_GROUP_HPP_
