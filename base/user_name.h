// What a user of a machine is called. A job belongs to a name: the coordinator takes it from the
// caller's number, and a worker that runs programs as itself compares it with its own.
#ifndef BASE_USER_NAME_H_
#define BASE_USER_NAME_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace bspnow {

/// "uid-1000" if this machine has no such account; nothing if it cannot be said now, as where a
/// directory service does not answer. May wait for one.
std::optional<std::string> UserName(uid_t user);

/// Whether by this error of getpwuid_r or getpwnam_r the system says that there is no such account;
/// by any other it says that it cannot tell.
bool SaysNoSuchAccount(int error);

}  // namespace bspnow

#endif  // BASE_USER_NAME_H_
