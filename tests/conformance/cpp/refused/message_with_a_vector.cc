/* Source: bsp.hpp, statement 10
 * Claim: A message that owns memory elsewhere does not compile.
 * Refused: must be trivially copyable
 */
#include <bsp.hpp>
#include <vector>

struct Row {
  int number;
  std::vector<double> entries;
};

void Use() { bsp::send(0, Row{}); }
