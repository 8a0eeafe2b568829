// bsp::run and bsp::world: processes between bsp_begin and bsp_end.
#ifndef BSP_WORLD_HPP_
#define BSP_WORLD_HPP_

#include <bsp/basis.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace bsp {

namespace detail {

// Arrays that ended, the newest first. Others may have put into them, so their memory stays until
// the barrier of the section in which they ended, whatever call has it, and whatever sections are
// within that one. Each begins with its node here.
struct ended_array {
  ended_array* next;
  std::size_t superstep;
  int sections;
};
inline constexpr std::size_t array_alignment = 64;
inline ended_array* ended_arrays = nullptr;  // tidy: of the program's one process, as bsp.h's

inline std::byte* allocate(std::size_t bytes) {
  constexpr std::align_val_t alignment{array_alignment};
  return static_cast<std::byte*>(::operator new(bytes, alignment));  // tidy: aligned, and kept
}

// Those before whose superstep a barrier lies. Behind one that must stay are only such ones of the
// same superstep, and of sections around it.
inline void free_ended_arrays() noexcept {
  if (ended_arrays == nullptr) return;
  int sections;
  const std::size_t superstep = bsp_superstep(&sections);
  while (ended_arrays != nullptr &&
         (ended_arrays->sections > sections ||
          (ended_arrays->sections == sections && ended_arrays->superstep != superstep))) {
    void* const memory = std::exchange(ended_arrays, ended_arrays->next);
    ::operator delete (memory, std::align_val_t{array_alignment});  // tidy: what allocate gave
  }
}

inline void end_array(std::byte* memory) noexcept {
  free_ended_arrays();
  int sections;
  const std::size_t superstep = bsp_superstep(&sections);
  ended_arrays = ::new (memory) ended_array{ended_arrays, superstep, sections};  // tidy: in place
}

}  // namespace detail

/// The processes of the job between bsp_begin and bsp_end, as the function given to bsp::run sees
/// them.
class world {
 public:
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// This process, 0 <= pid() < nprocs(), and p. Local.
  int pid() const noexcept { return pid_; }
  int nprocs() const noexcept { return nprocs_; }
  /// Seconds since bsp_begin. Local.
  double time() const { return bsp_time(); }  // tidy: the program asks

  /// bsp_sync: ends the superstep. Cost: h*g + l.
  BSP_INLINE_ void sync() {
    bsp_sync();
    detail::free_ended_arrays();
  }

 private:
  template <typename Spmd>
  friend void run(int maxprocs, Spmd&& spmd);

  world()
      : pid_(static_cast<int>(detail::bsp_mc_pid())),
        nprocs_(static_cast<int>(detail::bsp_mc_nprocs())) {}

  int pid_;
  int nprocs_;
};

/// Runs `spmd(world)` on min(maxprocs, processes of the job) processes, from bsp_begin to bsp_end;
/// the value given on pid 0 counts. In a program with a sequential part, that is one which begins
/// with bsp_init, it is what the SPMD procedure does. What is local to `spmd` ends before bsp_end.
/// Cost: 2 l.
template <typename Spmd>
void run(int maxprocs, Spmd&& spmd) {
  // As bsp.h has it here: see bsp_init. Unsigned, a negative value would be a large one.
  bsp_begin(static_cast<bsp_nprocs_t>(maxprocs < 1 ? 0 : maxprocs));
  detail::ending_job_if_it_throws("bsp::run", [&spmd] {
    world all;
    std::forward<Spmd>(spmd)(all);
  });
  bsp_end();
  detail::free_ended_arrays();
}

/// On all processes of the job.
template <typename Spmd>
void run(Spmd&& spmd) {
  run(static_cast<int>(detail::bsp_mc_nprocs()), std::forward<Spmd>(spmd));
}

}  // namespace bsp

#endif  // BSP_WORLD_HPP_
