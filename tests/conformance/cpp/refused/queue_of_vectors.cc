/* Source: bsp.hpp, statement 10
 * Claim: Messages are not read as what owns memory elsewhere.
 * Refused: must be trivially copyable
 */
#include <bsp.hpp>
#include <vector>

void Use() {
  for (auto& message : bsp::messages<std::vector<int>>()) (void)message;
}
