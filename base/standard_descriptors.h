// Descriptors 0 to 2, which may be closed when a program begins.
#ifndef BASE_STANDARD_DESCRIPTORS_H_
#define BASE_STANDARD_DESCRIPTORS_H_

namespace bspnow {

/// Opens /dev/null where they are closed, so that what is opened next, a connection or a file, does
/// not take their place, and what is printed. `mode`: of open(2); with O_RDONLY printing fails.
void OccupyStandardDescriptors(int mode);

}  // namespace bspnow

#endif  // BASE_STANDARD_DESCRIPTORS_H_
