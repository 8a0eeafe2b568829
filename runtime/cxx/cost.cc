// For cost_test.sh: pairs of functions that do the same by the C calls and by bsp.hpp. A vector is
// what a registration is, and an object of pub.h what a group is, so that each of a pair gets the
// same arguments.
#define BSP_MULTICORE
#include <bsp.hpp>

namespace {

struct Registered {
  double* data;
  std::size_t size;
};

}  // namespace

extern "C" {

void CPut(const Registered& area, int pid, const double& x, std::size_t at) {
  bsp_put(static_cast<unsigned>(pid), &x, area.data, at * sizeof x, sizeof x);
}
void CxxPut(const bsp::registration<double>& area, int pid, const double& x, std::size_t at) {
  area.put(pid, x, at);
}

void CPutRange(const Registered& area, int pid, const std::vector<double>& x, std::size_t at) {
  bsp_put(static_cast<unsigned>(pid), x.data(), area.data, at * sizeof x[0],
          x.size() * sizeof x[0]);
}
void CxxPutRange(const bsp::registration<double>& area, int pid, const std::vector<double>& x,
                 std::size_t at) {
  area.put(pid, x, at);
}

void CGet(const Registered& area, int pid, std::size_t at, double& x) {
  bsp_get(static_cast<unsigned>(pid), area.data, at * sizeof x, &x, sizeof x);
}
void CxxGet(const bsp::registration<double>& area, int pid, std::size_t at, double& x) {
  area.get(pid, at, x);
}

void CSend(int pid, const std::vector<double>& x) {
  bsp_send(static_cast<unsigned>(pid), nullptr, x.data(), x.size() * sizeof x[0]);
}
void CxxSend(int pid, const std::vector<double>& x) { bsp::send(pid, x); }

void CGroupSend(bsp::detail::pub_object& group, int pid, const double& x) {
  bsp::detail::bsp_pub_send(&group, pid, &x, sizeof x);
}
void CxxGroupSend(bsp::group& group, int pid, const double& x) { group.send(pid, x); }

void CGroupSync(bsp::detail::pub_object& group, int messages) {
  bsp::detail::bsp_pub_sync(&group);
  bsp::detail::bsp_oblsync(&group, messages);
}
void CxxGroupSync(bsp::group& group, int messages) {
  group.sync();
  group.oblsync(messages);
}

}  // extern "C"
