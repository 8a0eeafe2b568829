/* Source: bsp.h, head, statement 1
 * Claim: bsp.h can be used from today's C++, with the memory of its containers, and with a lambda
 *   as the SPMD procedure.
 */
#include <numeric>
#include <string>
#include <vector>

#include "bsp.h"
#include "dialect/every_call.h"
#include "expect.h"

namespace {

void Gather() {
  const int p = bsp_nprocs();
  std::vector<int> all(p);
  bsp_push_reg(all.data(), p * sizeof(int));
  bsp_sync();
  const int value = bsp_pid() + 1;
  for (int pid = 0; pid < p; pid++)
    bsp_put(pid, &value, all.data(), bsp_pid() * sizeof(int), sizeof(int));
  bsp_sync();
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0), p * (p + 1) / 2);
  bsp_pop_reg(all.data());
}

void Send() {
  const std::string text = "from " + std::to_string(bsp_pid());
  bsp_send((bsp_pid() + 1) % bsp_nprocs(), nullptr, text.data(), text.size());
  bsp_sync();
  int status = 0;
  bsp_get_tag(&status, nullptr);
  std::string received(status, '\0');
  bsp_move(&received[0], status);
  EXPECT(received == "from " + std::to_string((bsp_pid() + bsp_nprocs() - 1) % bsp_nprocs()));
}

}  // namespace

int main(int argc, char **argv) {
  if (argc > 1) EveryCall(); /* Only compiled here; usable_from_cxx98.cc runs it. */
  auto spmd = [] {
    bsp_begin(bsp_nprocs());
    Gather();
    Send();
    if (bsp_pid() == 0) puts("ok");
    bsp_end();
  };
  bsp_init(spmd, argc, argv);
  spmd();
  return 0;
}
