// A word of the machine, as g and n1/2 are given in words.
#ifndef BASE_MACHINE_WORD_H_
#define BASE_MACHINE_WORD_H_

namespace bspnow {

inline constexpr double kBytesPerMachineWord = 4;  // Skillicorn, Hill, McColl 1996, table 2.

}  // namespace bspnow

#endif  // BASE_MACHINE_WORD_H_
