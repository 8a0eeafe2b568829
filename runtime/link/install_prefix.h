// The installation prefix that a copy of libbsp carries.
#ifndef RUNTIME_LINK_INSTALL_PREFIX_H_
#define RUNTIME_LINK_INSTALL_PREFIX_H_

#include <cstddef>

namespace bspnow::runtime {

inline constexpr std::size_t kInstallPrefixBytes = 1024;

/// An absolute path, NUL-terminated; begins with '@' as long as the library is not installed.
extern "C" char bsp_install_prefix[kInstallPrefixBytes];

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_INSTALL_PREFIX_H_
