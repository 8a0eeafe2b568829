// The numpy arrays that a Python program has registered, and those that the current superstep still
// needs. Owned by the module; the names of BSPlib's rules are those of bsp.h.
#ifndef RUNTIME_PYTHON_REGISTERED_ARRAYS_H_
#define RUNTIME_PYTHON_REGISTERED_ARRAYS_H_

#include <pybind11/numpy.h>

#include <cstddef>
#include <map>
#include <vector>

namespace bspnow::python {

/// An area is known by its address, as in BSPlib, so a view that begins where an array begins names
/// that array.
class RegisteredArrays {
 public:
  void Push(const pybind11::array& array) { pushed_.push_back(array); }

  /// The newest registration of the address is popped. False: it has none.
  bool Pop(const void* address) {
    // One that was pushed in this superstep is the newest.
    for (std::size_t i = pushed_.size(); i > 0; --i) {
      if (pushed_[i - 1].data() != address) continue;
      Hold(pushed_[i - 1]);
      pushed_.erase(pushed_.begin() + static_cast<std::ptrdiff_t>(i - 1));
      return true;
    }
    const auto slots = slots_.find(address);
    if (slots == slots_.end() || popped_[address] == slots->second.size()) return false;
    popped_[address] += 1;
    return true;
  }

  /// The array that puts and gets of this superstep mean by the address; null: none.
  const pybind11::array* Find(const void* address) const {
    const auto slots = slots_.find(address);
    return slots == slots_.end() ? nullptr : &slots->second.back();
  }
  bool PushedNow(const void* address) const {
    for (const pybind11::array& array : pushed_) {
      if (array.data() == address) return true;
    }
    return false;
  }

  /// `object` must live until the barrier: a transfer reads or writes its memory.
  void Hold(pybind11::object object) { held_.push_back(static_cast<pybind11::object&&>(object)); }

  /// After a barrier: pushes and pops are valid, nothing is in flight.
  void NextSuperstep() {
    for (const auto& [address, count] : popped_) {
      std::vector<pybind11::array>& slots = slots_[address];
      slots.resize(slots.size() - count);
      if (slots.empty()) slots_.erase(address);
    }
    popped_.clear();
    for (pybind11::array& array : pushed_) slots_[array.data()].push_back(array);
    pushed_.clear();
    held_.clear();
  }

  void Clear() {
    NextSuperstep();
    slots_.clear();
  }

 private:
  std::map<const void*, std::vector<pybind11::array>> slots_;  ///< The newest is the last.
  std::map<const void*, std::size_t> popped_;                  ///< Of them, in this superstep.
  std::vector<pybind11::array> pushed_;
  std::vector<pybind11::object> held_;
};

}  // namespace bspnow::python

#endif  // RUNTIME_PYTHON_REGISTERED_ARRAYS_H_
