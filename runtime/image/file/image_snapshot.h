// The moment of an image: saves the registers and runs the writer on another stack, so that the
// memory of this process, its stack included, does not change any more.
#ifndef RUNTIME_IMAGE_FILE_IMAGE_SNAPSHOT_H_
#define RUNTIME_IMAGE_FILE_IMAGE_SNAPSHOT_H_

#include <cstddef>

#include "runtime/image/image_format.h"

namespace bspnow::runtime {

/// Calls run(argument) on the stack below `stack_top`: the program's own may be a coroutine's, with
/// a few KiB.
void CallOnStack(std::byte* stack_top, void (*run)(void*), void* argument);

/// Clones a child that calls write(argument) on the stack below `stack_top` and must end there. No
/// flags and exit signal 0: no handlers of fork, no SIGCHLD, invisible to wait(). Returns the
/// child's number or minus an error. A restored process returns from the same call, with 1.
long SnapshotInChild(ImageRegisters* registers, std::byte* stack_top, void (*write)(void*),
                     void* argument);

/// The same without a child: returns when write(argument) has returned.
long SnapshotInPlace(ImageRegisters* registers, std::byte* stack_top, void (*write)(void*),
                     void* argument);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_FILE_IMAGE_SNAPSHOT_H_
