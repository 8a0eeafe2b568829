// The calls of bsp_level1.h. They check what only they can see, and delegate.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/ids.h"
#include "base/machine_word.h"
#include "runtime/bsp_level1.h"
#include "runtime/collectives/arithmetic.h"
#include "runtime/collectives/machine.h"
#include "runtime/collectives/team.h"
#include "runtime/running_process.h"

namespace bspnow::runtime {
namespace {

/// One call, as the user wrote it.
struct Arguments {
  Call call;
  Collective collective;
  int root;
  int bytes;
  int element_bytes = 0;
  bool copied = false;  ///< As in CollectiveCall.
};

Team TeamOf(const Arguments& a) {
  Process& process = RunningProcess(a.call);
  const std::uint32_t p = process.group().p();
  if (static_cast<std::uint32_t>(a.root) >= p) {
    ReportMisuse(a.call, "root is %d, and there are processes 0 to %u", a.root, p - 1);
  }
  if (a.bytes < 0) ReportMisuse(a.call, "nbytes is %d; it must not be negative", a.bytes);
  return Team(process, process.group(), process.collectives(),
              {.call = a.call,
               .collective = a.collective,
               .root = static_cast<std::uint32_t>(a.root),
               .bytes = static_cast<std::size_t>(a.bytes),
               .element_bytes = static_cast<std::size_t>(a.element_bytes),
               .copied = a.copied});
}

void RequireArea(const Arguments& a, const char* name, const void* area) {
  if (area != nullptr || a.bytes == 0) return;
  ReportMisuse(a.call, "%s is NULL, and nbytes is %d; give the address of the area", name, a.bytes);
}

bool IsRoot(const Arguments& a) {
  return RunningProcess(a.call).pid() == static_cast<std::uint32_t>(a.root);
}

using Reduce = void (*)(Team&, Operation, const void*, void*);

void ReduceValues(const Arguments& a, Reduce reduce, Operation op, const void* src, void* dst) {
  RequireArea(a, "src", src);
  RequireArea(a, "dst", dst);
  if (op == nullptr) ReportMisuse(a.call, "op is NULL; give a function");
  Team team = TeamOf(a);
  reduce(team, op, src, dst);
}

// A vector of elements, as one value that may be cut.
Arguments Elements(Call call, Collective collective, int nelements, int nbytes) {
  if (nelements < 0 || nbytes < 1) {
    ReportMisuse(call, "nelements is %d, and nbytes is %d; give at least 0 elements of 1 byte",
                 nelements, nbytes);
  }
  if (nelements > std::numeric_limits<int>::max() / nbytes) {
    ReportMisuse(call, "%d elements of %d bytes are more than 2 GiB; combine less at a time",
                 nelements, nbytes);
  }
  return {.call = call,
          .collective = collective,
          .root = 0,
          .bytes = nelements * nbytes,
          .element_bytes = nbytes};
}

// ---- Typed values

/// Makes an operation of bsp_fold of a binary function.
template <typename T, T (*kCombine)(T, T)>
void Combine(void* result, void* left, void* right, int*) {
  *static_cast<T*>(result) = kCombine(*static_cast<T*>(left), *static_cast<T*>(right));
}

template <typename T, T (*kCombine)(T, T)>
T Reduced(Call call, Collective collective, T x) {
  T result;
  ReduceValues(
      {.call = call, .collective = collective, .root = 0, .bytes = sizeof x, .copied = true},
      collective == Collective::kFold ? &Fold : &Scan, &Combine<T, kCombine>, &x, &result);
  return result;
}

template <typename T>
T Sorted(Call call, T x) {
  static_assert(kProcessesMax * sizeof x <= ScratchBytes(Nodes::kOne));
  Team team = TeamOf({.call = call,
                      .collective = Collective::kExchange,
                      .root = 0,
                      .bytes = sizeof x,
                      .copied = true});
  // These bytes are the library's until the next call.
  auto* const all = reinterpret_cast<T*>(const_cast<std::byte*>(GatherOnAll(team, &x)));
  const auto is_before = [](T a, T b) { return a < b || (b != b && a == a); };
  std::nth_element(all, all + team.self(), all + team.p(), is_before);
  return all[team.self()];
}

Machine MachineFor(Call call) {
  Process& process = RunningProcess(call);
  return KnownMachine(process.group(), process.collectives(), call);
}

}  // namespace
}  // namespace bspnow::runtime

using namespace bspnow::runtime;  // NOLINT: the definitions below are in C's namespace.

#define BSP_CALL(name) (Call{name, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))})

extern "C" {

void bsp_bcast(int root, void* src, void* dst, int nbytes) {
  const Arguments a{BSP_CALL("bsp_bcast"), Collective::kBroadcast, root, nbytes};
  RequireArea(a, "dst", dst);
  if (IsRoot(a)) RequireArea(a, "src", src);
  Team team = TeamOf(a);
  Broadcast(team, src, dst);
}

void bsp_scatter(int root, void* src, void* dst, int nbytes) {
  const Arguments a{BSP_CALL("bsp_scatter"), Collective::kScatter, root, nbytes};
  RequireArea(a, "dst", dst);
  if (IsRoot(a)) RequireArea(a, "src", src);
  Team team = TeamOf(a);
  Scatter(team, src, dst);
}

void bsp_gather(int root, void* src, void* dst, int nbytes) {
  const Arguments a{BSP_CALL("bsp_gather"), Collective::kGather, root, nbytes};
  RequireArea(a, "src", src);
  if (IsRoot(a)) RequireArea(a, "dst", dst);
  Team team = TeamOf(a);
  Gather(team, src, dst);
}

void bsp_exchange(void* src, void* dst, int nbytes) {
  const Arguments a{BSP_CALL("bsp_exchange"), Collective::kExchange, 0, nbytes};
  RequireArea(a, "src", src);
  RequireArea(a, "dst", dst);
  Team team = TeamOf(a);
  Exchange(team, src, dst);
}

void bsp_fold(void (*op)(void*, void*, void*, int*), void* src, void* dst, int nbytes) {
  ReduceValues({BSP_CALL("bsp_fold"), Collective::kFold, 0, nbytes}, &Fold, op, src, dst);
}

void bsp_scan(void (*op)(void*, void*, void*, int*), void* src, void* dst, int nbytes) {
  ReduceValues({BSP_CALL("bsp_scan"), Collective::kScan, 0, nbytes}, &Scan, op, src, dst);
}

void bsp_fold_elements(void (*op)(void*, void*, void*, int*), void* src, void* dst, int nelements,
                       int nbytes) {
  ReduceValues(
      Elements(BSP_CALL("bsp_fold_elements"), Collective::kFoldElements, nelements, nbytes), &Fold,
      op, src, dst);
}

void bsp_scan_elements(void (*op)(void*, void*, void*, int*), void* src, void* dst, int nelements,
                       int nbytes) {
  ReduceValues(
      Elements(BSP_CALL("bsp_scan_elements"), Collective::kScanElements, nelements, nbytes), &Scan,
      op, src, dst);
}

int bsp_all(int x) {
  return Reduced<int, Least<int>>(BSP_CALL("bsp_all"), Collective::kFold, x != 0 ? 1 : 0);
}
int bsp_any(int x) {
  return Reduced<int, Greatest<int>>(BSP_CALL("bsp_any"), Collective::kFold, x != 0 ? 1 : 0);
}
int bsp_constantI(int x) {
  struct Range {
    int least, greatest;
  };
  const Range mine{x, x};
  Range all{};
  const auto join = [](void* result, void* left, void* right, int*) {
    const auto* const a = static_cast<Range*>(left);
    const auto* const b = static_cast<Range*>(right);
    *static_cast<Range*>(result) = {std::min(a->least, b->least),
                                    std::max(a->greatest, b->greatest)};
  };
  ReduceValues({.call = BSP_CALL("bsp_constantI"),
                .collective = Collective::kFold,
                .root = 0,
                .bytes = sizeof mine,
                .copied = true},
               &Fold, join, &mine, &all);
  return all.least == all.greatest ? 1 : 0;
}

#define BSP_REDUCTION(NAME, T, FUNCTION)                                                 \
  T NAME(T x) { return Reduced<T, FUNCTION<T>>(BSP_CALL(#NAME), Collective::kFold, x); } \
  T NAME##_prefix(T x) {                                                                 \
    return Reduced<T, FUNCTION<T>>(BSP_CALL(#NAME "_prefix"), Collective::kScan, x);     \
  }

BSP_REDUCTION(bsp_sumI, int, Sum)
BSP_REDUCTION(bsp_sumR, float, Sum)
BSP_REDUCTION(bsp_sumD, double, Sum)
BSP_REDUCTION(bsp_productI, int, Product)
BSP_REDUCTION(bsp_productR, float, Product)
BSP_REDUCTION(bsp_productD, double, Product)
BSP_REDUCTION(bsp_minI, int, Least)
BSP_REDUCTION(bsp_minR, float, Least)
BSP_REDUCTION(bsp_minD, double, Least)
BSP_REDUCTION(bsp_maxI, int, Greatest)
BSP_REDUCTION(bsp_maxR, float, Greatest)
BSP_REDUCTION(bsp_maxD, double, Greatest)

char bsp_sortC(char x) { return Sorted(BSP_CALL("bsp_sortC"), x); }
int bsp_sortI(int x) { return Sorted(BSP_CALL("bsp_sortI"), x); }
float bsp_sortR(float x) { return Sorted(BSP_CALL("bsp_sortR"), x); }
double bsp_sortD(double x) { return Sorted(BSP_CALL("bsp_sortD"), x); }

double bsp_s(void) { return MachineFor(BSP_CALL("bsp_s")).s_flops; }
double bsp_g(void) {
  const Machine machine = MachineFor(BSP_CALL("bsp_g"));
  return machine.g_ns_per_byte * bspnow::kBytesPerMachineWord * machine.s_flops * 1e-9;
}
double bsp_l(void) {
  const Machine machine = MachineFor(BSP_CALL("bsp_l"));
  return machine.l_ns * machine.s_flops * 1e-9;
}
int bsp_nhalf(void) {
  const double bytes = MachineFor(BSP_CALL("bsp_nhalf")).half_bytes;
  return static_cast<int>(bytes / bspnow::kBytesPerMachineWord + 0.5);
}

}  // extern "C"
