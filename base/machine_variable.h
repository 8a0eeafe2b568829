// BSP_MACHINE, by which a process knows the parameters of the machine: collective calls choose by
// them, and bsp_g and its like give them to the program.
#ifndef BASE_MACHINE_VARIABLE_H_
#define BASE_MACHINE_VARIABLE_H_

#include <string>

namespace bspnow {

struct MachineFigures {
  double g_ns_per_byte;  ///< Of a total exchange.
  double l_ns;
  double half_bytes;
  double s_flops;  ///< Of a process.
};

/// Whether this variable, NAME=VALUE, is BSP_MACHINE.
bool NamesMachine(const std::string& variable);

/// "BSP_MACHINE=g=...,l=..." of the figures that a process takes, which are not negative; empty:
/// there are none. Of the others it has what runtime/collectives/machine.cc knows.
std::string MachineVariable(const MachineFigures& figures);

/// The same of what was measured: 0 is no measurement.
std::string MeasuredMachineVariable(const MachineFigures& figures);

}  // namespace bspnow

#endif  // BASE_MACHINE_VARIABLE_H_
