// How the program's standard output leaves the process.
#ifndef RUNTIME_LINK_STANDARD_OUTPUT_H_
#define RUNTIME_LINK_STANDARD_OUTPUT_H_

namespace bspnow::runtime {

/// Before main. A process of a job prints into its launcher's pipe, which libc would fill in pieces
/// of 4 KiB: lines would be late, and lost if the job ends by an error. They are written when they
/// are complete, as on a terminal. The program may ask for something else (setvbuf).
void WriteLinesAtOnce();

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_STANDARD_OUTPUT_H_
