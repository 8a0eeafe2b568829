// Where bsprun was installed: deploy/install writes the prefix over the text below, in the archive
// and in the shared library, so that ./a.out alone finds its launcher.
#include "runtime/link/install_prefix.h"

extern "C" {
char bsp_install_prefix[bspnow::runtime::kInstallPrefixBytes] = "@bspnow-prefix@";  // tidy: patched
}
