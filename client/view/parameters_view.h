// The parameters of a machine that `bsp probe` measures, as text.
#ifndef CLIENT_VIEW_PARAMETERS_VIEW_H_
#define CLIENT_VIEW_PARAMETERS_VIEW_H_

#include <string>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// As in the paper's table 2: in time, and in what a process computes in that time, which is what
/// bsp_g and bsp_l give a program on this machine.
std::string ParametersText(const proto::MachineParameters& parameters);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_PARAMETERS_VIEW_H_
