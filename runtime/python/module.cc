// The extension module behind the Python package bsp: the calls of bsp.h and bsp_level1.h for numpy
// arrays. What can be seen here to be wrong becomes a Python exception before anything is done;
// what only the library can see ends the job, as in C. See docs/python.md.
#define BSP_MULTICORE  // Sizes are size_t.
#include <bsp.h>
#include <bsp_level1.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "runtime/link/report.h"
#include "runtime/python/elements.h"
#include "runtime/python/registered_arrays.h"

#undef bsp_begin
extern "C" void bsp_begin(int maxprocs);  // The paper's: a program in Python has one SPMD part.

namespace py = pybind11;

namespace bspnow::python {
namespace {

enum class Stage { kBefore, kRunning, kAfter };

/// What the module keeps between calls. Never destroyed: the interpreter is gone by then.
struct State {
  Stage stage = Stage::kBefore;
  bool has_areas = false;  ///< bsp.checkpoint has been called.
  RegisteredArrays arrays;
  py::function operation;  ///< Of the reduction that runs.
  py::dtype element;       ///< Its type of elements.
};
State& state() {
  static State* const one = new State;  // tidy: lives as long as the process
  return *one;
}

void RequireRunning() {
  if (state().stage == Stage::kRunning) return;
  throw std::runtime_error(state().stage == Stage::kBefore
                               ? "call bsp.begin first"
                               : "call it before bsp.end, between bsp.begin and bsp.end");
}

unsigned CheckedPid(const py::object& pid) {
  RequireRunning();
  const std::int64_t number = Whole(pid, "pid");
  if (number >= 0 && number < std::int64_t{bsp_nprocs()}) return static_cast<unsigned>(number);
  throw py::index_error("pid " + Text(pid) + " is outside 0.." + std::to_string(bsp_nprocs() - 1));
}

/// Of `area`, which must be registered: the array that was, so the type of elements is that one's.
const py::array& Registered(const py::array& area) {
  RequireRunning();
  if (const py::array* array = state().arrays.Find(area.data())) return *array;
  throw py::value_error(state().arrays.PushedNow(area.data())
                            ? "the array was registered in this superstep; use it after bsp.sync"
                            : "the array is not registered; call bsp.push_reg and bsp.sync on all "
                              "processes first");
}

std::size_t Offset(const py::object& offset, const py::array& area) {
  const std::int64_t elements = Whole(offset, "offset");
  if (elements < 0) {
    throw py::index_error("offset is " + Text(offset) + "; it must not be negative");
  }
  std::size_t bytes;
  if (!__builtin_mul_overflow(elements, area.dtype().itemsize(), &bytes)) return bytes;
  throw py::index_error("offset is " + Text(offset) + " elements, beyond any area");
}

// ---- Life, supersteps

void Begin(const py::object& maxprocs) {
  if (state().stage != Stage::kBefore) {
    throw std::runtime_error("a program has one bsp.begin and one bsp.end only");
  }
  const std::int64_t wanted = Whole(maxprocs, "maxprocs");
  if (wanted < 1 || wanted > INT_MAX) {
    throw py::value_error("maxprocs is " + Text(maxprocs) + "; ask for 1 to " +
                          std::to_string(INT_MAX));
  }
  bsp_begin(static_cast<int>(wanted));
  state().stage = Stage::kRunning;
}

void End() {
  RequireRunning();
  {
    py::gil_scoped_release others_run;
    bsp_end();
  }
  state().stage = Stage::kAfter;
  state().arrays.Clear();
}

void Sync() {
  RequireRunning();
  {
    py::gil_scoped_release others_run;
    bsp_sync();
  }
  state().arrays.NextSuperstep();
}

// ---- DRMA

void PushReg(const py::array& array) {
  RequireRunning();
  RequireWriteable(array, "the array");
  bsp_push_reg(array.data(), Bytes(array));
  state().arrays.Push(array);
}

void PopReg(const py::array& array) {
  RequireRunning();
  if (!state().arrays.Pop(array.data())) throw py::value_error("the array is not registered");
  bsp_pop_reg(array.data());
}

void Put(const py::object& pid, const py::object& src, const py::array& dst,
         const py::object& offset) {
  const unsigned target = CheckedPid(pid);
  const py::array& area = Registered(dst);
  const py::array elements = Elements(src, area.dtype());
  bsp_put(target, elements.data(), const_cast<void*>(area.data()), Offset(offset, area),
          Bytes(elements));
}

void HpPut(const py::object& pid, const py::array& src, const py::array& dst,
           const py::object& offset) {
  const unsigned target = CheckedPid(pid);
  const py::array& area = Registered(dst);
  const py::array elements = Elements(src, area.dtype());
  bsp_hpput(target, elements.data(), const_cast<void*>(area.data()), Offset(offset, area),
            Bytes(elements));
  state().arrays.Hold(elements);
}

using GetCall = void (*)(unsigned, const void*, std::size_t, void*, std::size_t);
template <GetCall call>
void GetBy(const py::object& pid, const py::array& src, const py::object& offset,
           const py::array& dst) {
  const unsigned source = CheckedPid(pid);
  const py::array& area = Registered(src);
  const py::array elements = Elements(dst, area.dtype());
  RequireWriteable(elements, "dst");
  call(source, area.data(), Offset(offset, area), const_cast<void*>(elements.data()),
       Bytes(elements));
  state().arrays.Hold(elements);
}

// ---- BSMP

/// The payload or tag in any object with contiguous memory: bytes, an array, a memoryview.
py::buffer_info BytesOf(const py::object& object, const char* name) {
  if (py::isinstance<py::array>(object)) {
    RequirePlain(py::reinterpret_borrow<py::array>(object), name);
  } else if (!PyObject_CheckBuffer(object.ptr())) {
    throw py::type_error(std::string(name) + " is neither bytes nor a numpy array");
  }
  py::buffer_info info = py::reinterpret_borrow<py::buffer>(object).request();
  py::ssize_t stride = info.itemsize;
  for (py::ssize_t i = info.ndim; i > 0; --i) {
    if (info.size > 1 && info.shape[i - 1] > 1 && info.strides[i - 1] != stride) {
      throw py::value_error(std::string(name) + " is not contiguous");
    }
    stride *= info.shape[i - 1];
  }
  return info;
}

std::size_t SetTagsize(const py::object& nbytes) {
  RequireRunning();
  const std::int64_t wanted = Whole(nbytes, "nbytes");
  if (wanted < 0) {
    throw py::value_error("the tag size is " + Text(nbytes) + "; it must not be negative");
  }
  auto bytes = static_cast<std::size_t>(wanted);
  bsp_set_tagsize(&bytes);
  return bytes;
}

void Send(const py::object& pid, const py::object& payload, const py::object& tag) {
  const unsigned target = CheckedPid(pid);
  const py::buffer_info bytes = BytesOf(payload, "payload");
  const py::buffer_info tag_bytes = BytesOf(tag, "tag");
  const auto size = static_cast<std::size_t>(tag_bytes.size * tag_bytes.itemsize);
  if (size != bsp_sent_tagsize()) {
    throw py::value_error("the tag has " + std::to_string(size) + " bytes, and in this superstep " +
                          "tags have " + std::to_string(bsp_sent_tagsize()) +
                          "; call bsp.set_tagsize, and bsp.sync");
  }
  bsp_send(target, tag_bytes.ptr, bytes.ptr, static_cast<std::size_t>(bytes.size * bytes.itemsize));
}

/// (messages, bytes of their payloads) in the queue.
py::tuple QueueSize() {
  RequireRunning();
  unsigned count;
  std::size_t bytes;
  bsp_qsize(&count, &bytes);
  return py::make_tuple(count, bytes);
}

/// Takes the first message: (tag, payload), the tag as bytes, the payload as an array that lies
/// where the message has arrived; None if the queue is empty. A message that is no array of this
/// type stays.
py::object TakeMessage(const py::dtype& type) {
  RequireRunning();
  RequireNoObjects(type, "a message");
  const auto size = static_cast<std::size_t>(type.itemsize());
  if (size == 0) throw py::type_error("elements of " + Name(type) + " have no bytes");
  std::string tag(bsp_queue_tagsize(), '\0');
  std::size_t bytes;
  bsp_get_tag(&bytes, tag.data());
  if (bytes == static_cast<std::size_t>(-1)) return py::none();
  if (bytes % size != 0) {
    throw py::value_error("a message of " + std::to_string(bytes) +
                          " bytes is no whole number of elements of " + std::to_string(size));
  }
  void *where, *payload;
  bsp_hpmove(&where, &payload);
  // With a base the array does not copy; the memory is the library's, until the next barrier.
  py::array elements(type, {static_cast<py::ssize_t>(bytes / size)}, {}, payload, py::none());
  elements.attr("setflags")(py::arg("write") = false);
  return py::make_tuple(py::bytes(tag), elements);
}

// ---- Collectives

void Broadcast(const py::object& root, const py::array& x) {
  const unsigned from = CheckedPid(root);
  RequireWriteable(x, "x");
  void* const data = const_cast<void*>(x.data());
  bsp_bcast(static_cast<int>(from), data, data, IntBytes(Bytes(x)));
  state().arrays.NextSuperstep();
}

/// op of bsp_fold: calls the program's with arrays that lie where the values do.
void Combine(void* result, void* left, void* right, int* nbytes) {
  try {
    const py::dtype& type = state().element;
    const py::ssize_t size = *nbytes / type.itemsize();
    const auto at = [&](void* data) { return py::array(type, {size}, {}, data, py::none()); };
    const py::object combined = state().operation(at(left), at(right));
    py::module_::import("numpy").attr("copyto")(at(result), combined);
  } catch (py::error_already_set& error) {
    error.restore();
    PyErr_Print();  // Where it was, for the programmer.
    bsp_fail("bsp.reduce", "the operation raised the exception above");
  }
}

using ElementsCall = void (*)(void (*)(void*, void*, void*, int*), void*, void*, int, int);

/// `element_bytes`: what the operation combines of itself, an element or the whole array.
template <ElementsCall call>
void ReduceBy(const py::array& x, const py::array& result, const py::function& op,
              int element_bytes) {
  RequireRunning();
  RequirePlain(x, "x");
  state().operation = op;
  state().element = x.dtype();
  call(&Combine, const_cast<void*>(x.data()), const_cast<void*>(result.data()),
       element_bytes == 0 ? 0 : IntBytes(Bytes(x)) / element_bytes,
       element_bytes == 0 ? 1 : element_bytes);
  state().arrays.NextSuperstep();
}

void Gather(const py::object& root, const py::array& x, const py::array& all) {
  const unsigned to = CheckedPid(root);
  RequirePlain(x, "x");
  bsp_gather(static_cast<int>(to), const_cast<void*>(x.data()), const_cast<void*>(all.data()),
             IntBytes(Bytes(x)));
  state().arrays.NextSuperstep();
}

void Scatter(const py::object& root, const py::array& blocks, const py::array& x) {
  const unsigned from = CheckedPid(root);
  RequirePlain(blocks, "blocks");
  RequireWriteable(x, "x");
  if (from == bsp_pid() && Bytes(blocks) != Bytes(x) * bsp_nprocs()) {
    throw py::value_error("blocks has " + std::to_string(Bytes(blocks)) + " bytes, and " +
                          std::to_string(bsp_nprocs()) + " processes want " +
                          std::to_string(Bytes(x)) + " each");
  }
  bsp_scatter(static_cast<int>(from), const_cast<void*>(blocks.data()), const_cast<void*>(x.data()),
              IntBytes(Bytes(x)));
  state().arrays.NextSuperstep();
}

void Exchange(const py::array& blocks, const py::array& result) {
  RequireRunning();
  RequirePlain(blocks, "blocks");
  bsp_exchange(const_cast<void*>(blocks.data()), const_cast<void*>(result.data()),
               IntBytes(Bytes(blocks) / bsp_nprocs()));
  state().arrays.NextSuperstep();
}

// ---- Checkpoints of the program's own

/// All are looked at before one is registered; they remain until the process ends.
int Checkpoint(const py::args& arrays) {
  RequireRunning();
  if (state().has_areas) throw std::runtime_error("call bsp.checkpoint once, with all arrays");
  for (const py::handle array : arrays) {
    if (!py::isinstance<py::array>(array)) throw py::type_error("an area must be a numpy array");
    RequireWriteable(py::reinterpret_borrow<py::array>(array), "the array");
  }
  state().has_areas = true;
  if (arrays.empty()) bsp_checkpoint_register(nullptr, 0);  // "A process that has none."
  for (const py::handle array : arrays) {
    const auto area = py::reinterpret_borrow<py::array>(array);
    bsp_checkpoint_register(const_cast<void*>(area.data()), Bytes(area));
    area.inc_ref();
  }
  return bsp_checkpoint_resume();
}

[[noreturn]] void Fail(const std::string& call, const std::string& text) {
  bsp_fail(call.c_str(), "%s", text.c_str());
}

/// The line of the program that is in a call of the package. None: an exception has left it, whose
/// traceback is printed.
void NameLine(char* text, std::size_t bytes) {
  const py::gil_scoped_acquire one_runs;
  try {
    py::object frame = py::module_::import("sys").attr("_getframe")();
    while (!frame.is_none() && Text(frame.attr("f_globals").attr("get")("__name__")) == "bsp")
      frame = frame.attr("f_back");
    if (frame.is_none()) return;
    const std::string path = Text(frame.attr("f_code").attr("co_filename"));
    const std::string name = path.substr(path.rfind('/') + 1);
    snprintf(text, bytes, "%.400s:%s", name.c_str(), Text(frame.attr("f_lineno")).c_str());
  } catch (const std::exception&) {  // No frame is there.
  }
}

}  // namespace
}  // namespace bspnow::python

using namespace bspnow::python;  // NOLINT: what follows is Python's.

PYBIND11_MODULE(_native, module) {
  bspnow::runtime::NameSitesBy(&NameLine);
  module.def("begin", &Begin, py::arg("maxprocs"));
  module.def("end", &End);
  module.def("abort", [](const std::string& text) { bsp_abort("%s", text.c_str()); });
  module.def("fail", &Fail);
  module.def("running", [] { return state().stage == Stage::kRunning; });
  module.def("nprocs", [] { return bsp_nprocs(); });
  module.def("pid", [] {
    if (state().stage == Stage::kBefore) RequireRunning();
    return bsp_pid();
  });
  module.def("time", [] {
    if (state().stage == Stage::kBefore) RequireRunning();
    return bsp_time();
  });
  module.def("sync", &Sync);

  module.def("push_reg", &PushReg, py::arg("array"));
  module.def("pop_reg", &PopReg, py::arg("array"));
  module.def("put", &Put, py::arg("to"), py::arg("src"), py::arg("dst"), py::arg("offset"));
  module.def("hpput", &HpPut, py::arg("to"), py::arg("src"), py::arg("dst"), py::arg("offset"));
  module.def("get", &GetBy<&bsp_get>, py::arg("source"), py::arg("src"), py::arg("offset"),
             py::arg("dst"));
  module.def("hpget", &GetBy<&bsp_hpget>, py::arg("source"), py::arg("src"), py::arg("offset"),
             py::arg("dst"));

  module.def("set_tagsize", &SetTagsize, py::arg("nbytes"));
  module.def("send", &Send, py::arg("to"), py::arg("payload"), py::arg("tag"));
  module.def("qsize", &QueueSize);
  module.def("take", &TakeMessage);

  module.def("broadcast", &Broadcast);
  module.def("fold", &ReduceBy<&bsp_fold_elements>);
  module.def("scan", &ReduceBy<&bsp_scan_elements>);
  module.def("gather", &Gather);
  module.def("elements", &Elements);
  module.def("scatter", &Scatter);
  module.def("exchange", &Exchange);
  module.def("checkpoint", &Checkpoint);
}
