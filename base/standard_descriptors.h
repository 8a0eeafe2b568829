// Descriptors 0 to 2, which may be closed when a program begins.
#ifndef BASE_STANDARD_DESCRIPTORS_H_
#define BASE_STANDARD_DESCRIPTORS_H_

namespace bspnow {

/// What becomes of text that is printed where the descriptor is closed.
enum class ClosedOutput { kFails, kVanishes };

/// Opens /dev/null where they are closed, so that what is opened next, a connection or a file, does
/// not take their place, and what is printed.
void OccupyStandardDescriptors(ClosedOutput closed);

}  // namespace bspnow

#endif  // BASE_STANDARD_DESCRIPTORS_H_
