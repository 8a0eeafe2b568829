// bsp.hpp: BSPlib for C++17, with types in place of counts of bytes. Header only: its functions are
// those of bsp.h and bsp_level1.h with the sizes filled in, so they cost what those cost, and both
// may be used in one program. Sizes and positions are elements, std::size_t in either dialect of
// bsp.h.
//
//   bsp::run([](bsp::world& world) {
//     bsp::array<int> left(1);  // usable from the next superstep on
//     world.sync();
//     left.put((world.pid() + 1) % world.nprocs(), world.pid());
//     world.sync();
//     std::printf("%d is left of %d\n", left[0], world.pid());
//   });
//
// What is sent is copied byte by byte, so its type must be trivially copyable: any other does not
// compile. "x" below is an element, a T; or a contiguous range of them: an array, std::vector,
// std::array, std::string, std::span, bsp::view.
//
// Errors are those of bsp.h, and end the job. So does an exception that leaves the function given
// to bsp::run, on whatever process, while others wait in a bsp_sync: exit status 6, and a message
// with its what(), the pid and the superstep.
#ifndef BSP_HPP_
#define BSP_HPP_

#include <bsp/basis.hpp>
#include <bsp/collectives.hpp>
#include <bsp/group.hpp>
#include <bsp/memory.hpp>
#include <bsp/messages.hpp>
#include <bsp/world.hpp>

namespace bsp {

/// bsp_checkpoint_register for each of the areas, elements or contiguous ranges, and
/// bsp_checkpoint_resume: 0, or the number of the superstep that they are from. See bsp.h.
template <typename... Areas>
int resume(Areas&... areas) {
  static_assert(sizeof...(Areas) > 0, "name the areas that a checkpoint holds");
  const auto add = [](const auto& area) {
    detail::bsp_mc_checkpoint_register(area.data(), area.size() * sizeof *area.data());
  };
  (add(detail::view_of(areas)), ...);
  return bsp_checkpoint_resume();
}

}  // namespace bsp

#endif  // BSP_HPP_
