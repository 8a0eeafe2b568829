/* Source: bsp.hpp, statement 10
 * Claim: Before C++17 the header says what it needs.
 * Refused: bsp.hpp needs C.*17
 */
#include <bsp.hpp>
