// What a bsp::group has received: typed messages in any order, as PUB has them.
#ifndef BSP_GROUP_MESSAGES_HPP_
#define BSP_GROUP_MESSAGES_HPP_

#include <bsp/basis.hpp>
#include <bsp/group_calls.hpp>
#include <cstddef>
#include <iterator>

namespace bsp {

/// A message of a group: elements of type T, which may be changed, and who sent them. Valid until
/// the next end of a superstep of that group, however often it is looked at.
template <typename T>
class group_message : public view<T> {
 public:
  group_message(T* data, std::size_t size, int source) noexcept
      : view<T>(data, size), source_(source) {}

  /// The pid of its sender in the group.
  int source() const noexcept { return source_; }
  /// The only element. Error: there are more, or none.
  BSP_INLINE_ T& value() const {
    if (__builtin_expect(this->size() != 1, 0)) {
      bsp_fail("bsp::group_message::value", "the message has %zu elements, and not one",
               this->size());
    }
    return (*this)[0];
  }

 private:
  int source_;
};

namespace detail {

/// Error: there is none; its size is not a multiple of T's.
template <typename T>
BSP_INLINE_ group_message<T> read(pub_message* message) {
  T* const data = static_cast<T*>(bspmsg_data(message));
  const auto bytes = static_cast<std::size_t>(bspmsg_size(message));
  if (__builtin_expect(bytes % sizeof(T) != 0, 0)) {
    bsp_fail("bsp::group::messages", "a message of %zu bytes is no whole number of elements of %zu",
             bytes, sizeof(T));
  }
  return group_message<T>(data, bytes / sizeof(T), bspmsg_src(message));
}

}  // namespace detail

/// The messages of a group, all or those of one source, in the order of pid and issue: a range,
/// `for (auto& m : ...)`. Looking at one leaves it where it is.
template <typename T>
class group_messages {
 public:
  struct end_of_messages {};

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = group_message<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    BSP_INLINE_ explicit iterator(const group_messages& all)
        : all_(all), message_(nullptr, 0, of_all) {
      look();
    }
    reference operator*() const noexcept { return message_; }
    pointer operator->() const noexcept { return &message_; }
    BSP_INLINE_ iterator& operator++() {
      i_ += 1;
      look();
      return *this;
    }
    bool operator!=(end_of_messages) const noexcept { return !at_end_; }
    bool operator==(end_of_messages) const noexcept { return at_end_; }

   private:
    BSP_INLINE_ void look() {
      detail::pub_message* const next = all_.at(i_);
      at_end_ = next == nullptr;
      if (!at_end_) message_ = detail::read<T>(next);
    }

    group_messages all_;
    int i_ = 0;
    group_message<T> message_;
    bool at_end_ = false;
  };

  static constexpr int of_all = -1;
  group_messages(const detail::pub_object& object, int source) noexcept
      : object_(object), source_(source) {}

  BSP_INLINE_ iterator begin() const { return iterator(*this); }
  end_of_messages end() const noexcept { return {}; }
  /// The i-th of them, from 0. Error: there are fewer.
  BSP_INLINE_ group_message<T> operator[](int i) const { return detail::read<T>(at(i)); }

 protected:
  detail::pub_object object_;

 private:
  // Null: there are fewer.
  BSP_INLINE_ detail::pub_message* at(int i) const {
    detail::pub_object object = object_;
    return source_ == of_all ? detail::bsp_getmsg(&object, i)
                             : detail::bsp_findmsg(&object, source_, i);
  }

  int source_;
};

/// All of them.
template <typename T>
class all_group_messages : public group_messages<T> {
 public:
  explicit all_group_messages(const detail::pub_object& object) noexcept
      : group_messages<T>(object, group_messages<T>::of_all) {}

  BSP_INLINE_ int size() const {
    detail::pub_object object = this->object_;
    return detail::bsp_nmsgs(&object);
  }
  /// Those of one process. Error: no pid of the group.
  BSP_INLINE_ group_messages<T> from(int source) const {
    return group_messages<T>(this->object_, source);
  }
};

}  // namespace bsp

#endif  // BSP_GROUP_MESSAGES_HPP_
