// What Python programs hand over as elements: which arrays can be moved, and how what is no array
// becomes one. What cannot is a Python exception.
#ifndef RUNTIME_PYTHON_ELEMENTS_H_
#define RUNTIME_PYTHON_ELEMENTS_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bspnow::python {

inline void RequireNoObjects(const pybind11::dtype& type, const char* name) {
  if (type.attr("hasobject").cast<bool>()) {
    throw pybind11::type_error(std::string(name) +
                               " holds Python objects; bytes of numbers can be sent");
  }
}

inline void RequirePlain(const pybind11::array& array, const char* name) {
  RequireNoObjects(array.dtype(), name);
  if ((array.flags() & pybind11::array::c_style) == 0) {
    throw pybind11::value_error(
        std::string(name) + " is not contiguous; use numpy.ascontiguousarray, or a part that is");
  }
}

inline void RequireWriteable(const pybind11::array& array, const char* name) {
  RequirePlain(array, name);
  if (!array.writeable()) throw pybind11::value_error(std::string(name) + " is read-only");
}

inline std::size_t Bytes(const pybind11::array& array) {
  return static_cast<std::size_t>(array.nbytes());
}

inline int IntBytes(std::size_t bytes) {
  if (bytes <= INT_MAX) return static_cast<int>(bytes);
  throw pybind11::value_error(std::to_string(bytes) +
                              " bytes are more than 2 GiB; move less at a time");
}

/// Of Python's whole numbers, numpy's among them. One beyond 64 bits is the largest or the least.
inline std::int64_t Whole(const pybind11::object& number, const char* name) {
  const auto whole = pybind11::reinterpret_steal<pybind11::object>(PyNumber_Index(number.ptr()));
  if (!whole) {
    PyErr_Clear();
    throw pybind11::type_error(std::string(name) + " is " +
                               pybind11::repr(number).cast<std::string>() +
                               "; give a whole number");
  }
  int beyond = 0;
  const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &beyond);
  if (beyond == 0) return value;
  return beyond < 0 ? INT64_MIN : INT64_MAX;
}

inline std::string Text(const pybind11::object& object) {
  return pybind11::str(object).cast<std::string>();
}

inline std::string Name(const pybind11::dtype& type) {
  return type.attr("__str__")().cast<std::string>();
}

/// What numpy warns of in a conversion is found by comparing.
class WithoutWarnings {
 public:
  explicit WithoutWarnings(const pybind11::module_& numpy)
      : state_(numpy.attr("errstate")(pybind11::arg("invalid") = "ignore")) {
    state_.attr("__enter__")();
  }
  ~WithoutWarnings() {
    state_.attr("__exit__")(pybind11::none(), pybind11::none(), pybind11::none());
  }
  WithoutWarnings(const WithoutWarnings&) = delete;
  WithoutWarnings& operator=(const WithoutWarnings&) = delete;

 private:
  pybind11::object state_;
};

/// Of a number or a list. What would be cut off, or has no place, is an error; a rounded float is
/// none.
inline pybind11::array Converted(const pybind11::object& x, const pybind11::dtype& type) {
  const pybind11::module_ numpy = pybind11::module_::import("numpy");
  const char kind = type.kind();
  const bool whole = kind == 'b' || kind == 'i' || kind == 'u';
  if (!whole && kind != 'f') return numpy.attr("ascontiguousarray")(x, type);
  pybind11::array given = numpy.attr("asarray")(x);
  // Integers beside floats, or on both sides of 2^63, are rounded there.
  if (whole && given.ndim() != 0 && given.dtype().kind() == 'f')
    given = numpy.attr("asarray")(x, "object");
  const WithoutWarnings quiet(numpy);
  pybind11::array converted = numpy.attr("ascontiguousarray")(given, type);
  const bool inexact = kind == 'f' && given.dtype().kind() != 'c';
  if (!inexact && !given.dtype().equal(type) &&
      !numpy.attr("equal")(given, converted).attr("all")().cast<bool>()) {
    throw pybind11::value_error(pybind11::repr(x).cast<std::string>() +
                                " does not fit into elements of " + Name(type) + "; convert it");
  }
  return converted;
}

/// `x` as elements of `type`: an array of them as it is, and what is no array (a number, a list)
/// converted.
inline pybind11::array Elements(const pybind11::object& x, const pybind11::dtype& type) {
  if (!pybind11::isinstance<pybind11::array>(x)) return Converted(x, type);
  pybind11::array array = pybind11::reinterpret_borrow<pybind11::array>(x);
  if (!array.dtype().equal(type)) {
    throw pybind11::type_error("elements of " + Name(array.dtype()) + " in place of " + Name(type) +
                               "; convert them");
  }
  RequirePlain(array, "the array");
  return array;
}

}  // namespace bspnow::python

#endif  // RUNTIME_PYTHON_ELEMENTS_H_
