// The calls of a profile by file and line, as the program's debug information has them.
#ifndef CLIENT_PROFILE_CALL_NAMES_H_
#define CLIENT_PROFILE_CALL_NAMES_H_

#include <string>

#include "client/profile/job_profile.h"

namespace bspnow::client {

/// Names each call "file.c:12", by addr2line; without that, or without debug information in the
/// file, "name+0x1234". `program`: the file that the processes ran; empty: it is not to be had.
void NameCalls(const std::string& program, const std::string& name, JobProfile& profile);

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_CALL_NAMES_H_
