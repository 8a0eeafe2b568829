// Where bsprun was installed: deploy/install writes the prefix over the text below, in the archive
// and in the shared library, so that ./a.out alone finds its launcher.
#include "runtime/install_prefix.h"

namespace bspnow {

extern "C" {
char bsp_install_prefix[kInstallPrefixBytes] = "@bspnow-prefix@";
}

}  // namespace bspnow
