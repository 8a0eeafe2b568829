// bsp::send and bsp::messages: typed messages (BSMP).
#ifndef BSP_MESSAGES_HPP_
#define BSP_MESSAGES_HPP_

#include <bsp/basis.hpp>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>

namespace bsp {

/// From the next superstep on messages have a tag of this type; of `void`: none, as at first.
/// Collective. Cost: none.
template <typename Tag>
void set_tag() {
  std::size_t bytes = 0;
  if constexpr (!std::is_void_v<Tag>) {
    detail::require_trivially_copyable<Tag>();
    bytes = sizeof(Tag);
  }
  detail::bsp_mc_set_tagsize(&bytes);
}

namespace detail {

template <typename Tag>
BSP_INLINE_ const Tag* checked_tag(const char* call, const Tag& tag) {
  require_trivially_copyable<Tag>();
  if (__builtin_expect(bsp_mc_sent_tagsize() != sizeof(Tag), 0)) {
    bsp_fail(call,
             "the tag has %zu bytes, and in this superstep tags have %zu; call bsp::set_tag,"
             " and bsp_sync",
             sizeof(Tag), bsp_mc_sent_tagsize());
  }
  return std::addressof(tag);
}

}  // namespace detail

/// bsp_send: x goes to the queue of `pid`, to be read in the next superstep. Copied before the call
/// returns. Adds its bytes, and those of the tag, to h. Error: another size of tags than the tag's.
template <typename X>
BSP_INLINE_ void send(int pid, const X& x) {
  const auto payload = detail::view_of(x);
  detail::bsp_mc_send(static_cast<unsigned>(pid), nullptr, payload.data(),
                      payload.size() * sizeof *payload.data());
}
template <typename X, typename Tag>
BSP_INLINE_ void send(int pid, const X& x, const Tag& tag) {
  const auto payload = detail::view_of(x);
  detail::bsp_mc_send(static_cast<unsigned>(pid), detail::checked_tag("bsp::send", tag),
                      payload.data(), payload.size() * sizeof *payload.data());
}
/// bsp_hpsend: the same, unbuffered; x and tag must remain, and not change, until the barrier.
template <typename X>
BSP_INLINE_ void hpsend(int pid, const X& x) {
  const auto payload = detail::view_of(x);
  detail::bsp_mc_hpsend(static_cast<unsigned>(pid), nullptr, payload.data(),
                        payload.size() * sizeof *payload.data());
}
template <typename X, typename Tag>
BSP_INLINE_ void hpsend(int pid, const X& x, const Tag& tag) {
  const auto payload = detail::view_of(x);
  detail::bsp_mc_hpsend(static_cast<unsigned>(pid), detail::checked_tag("bsp::hpsend", tag),
                        payload.data(), payload.size() * sizeof *payload.data());
}

/// A message of the queue: its payload, elements of type T, and its tag if it has one. Valid until
/// the next barrier.
template <typename T, typename Tag = void>
class message : public view<const T> {
 public:
  message(const void* tag, const void* payload, std::size_t size) noexcept
      : view<const T>(static_cast<const T*>(payload), size), tag_(tag) {}

  /// The only element. Error: there are more, or none.
  BSP_INLINE_ const T& value() const {
    if (__builtin_expect(this->size() != 1, 0)) {
      bsp_fail("bsp::message::value", "the message has %zu elements, and not one", this->size());
    }
    return (*this)[0];
  }
  template <typename Wanted = Tag, typename = std::enable_if_t<!std::is_void_v<Wanted>>>
  const Wanted& tag() const noexcept {
    return *static_cast<const Wanted*>(tag_);
  }

 private:
  const void* tag_;
};

/// The messages of the queue; see messages().
template <typename T, typename Tag>
class message_queue {
 public:
  struct end_of_queue {};

  /// Takes messages from the queue, one with each step.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = message<T, Tag>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    BSP_INLINE_ iterator() : message_(nullptr, nullptr, 0) { take(); }
    reference operator*() const noexcept { return message_; }
    pointer operator->() const noexcept { return &message_; }
    BSP_INLINE_ iterator& operator++() {
      take();
      return *this;
    }
    bool operator!=(end_of_queue) const noexcept { return !at_end_; }
    bool operator==(end_of_queue) const noexcept { return at_end_; }

   private:
    BSP_INLINE_ void take() {
      void *tag = nullptr, *payload = nullptr;
      const std::size_t bytes = detail::bsp_mc_hpmove(&tag, &payload);
      at_end_ = bytes == static_cast<std::size_t>(-1);
      if (at_end_) return;
      if (__builtin_expect(bytes % sizeof(T) != 0, 0)) {
        bsp_fail("bsp::messages", "a message of %zu bytes is no whole number of elements of %zu",
                 bytes, sizeof(T));
      }
      message_ = message<T, Tag>(tag, payload, bytes / sizeof(T));
    }

    message<T, Tag> message_;
    bool at_end_ = false;
  };

  BSP_INLINE_ iterator begin() const { return iterator(); }
  end_of_queue end() const noexcept { return {}; }
  /// Messages that have not been taken. Local.
  std::size_t size() const {
    unsigned count;
    detail::bsp_mc_qsize(&count, nullptr);
    return count;
  }
};

/// The queue of this process, `for (auto& m : bsp::messages<T>())`: each step takes a message, in
/// the order of the pids that sent them and of issue; what is left when the loop is left remains.
/// Local, copies nothing. Error: the size of a message is not a multiple of T's; the tags of the
/// queue have another size than Tag.
template <typename T, typename Tag = void>
message_queue<T, Tag> messages() {
  detail::require_trivially_copyable<T>();
  static_assert(alignof(T) <= alignof(std::max_align_t), "a message is aligned for ordinary types");
  if constexpr (!std::is_void_v<Tag>) {
    detail::require_trivially_copyable<Tag>();
    unsigned count;
    detail::bsp_mc_qsize(&count, nullptr);
    if (count != 0 && detail::bsp_mc_queue_tagsize() != sizeof(Tag)) {
      bsp_fail("bsp::messages", "the tags of the queue have %zu bytes, and Tag has %zu",
               detail::bsp_mc_queue_tagsize(), sizeof(Tag));
    }
  }
  return {};
}

}  // namespace bsp

#endif  // BSP_MESSAGES_HPP_
