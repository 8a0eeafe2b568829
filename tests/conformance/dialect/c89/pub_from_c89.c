/* Source: dialects, PUB, statement 2
 * Claim: pub.h can be used from C89.
 */
#include "dialect/every_pub_call.h"

int main(int argc, char **argv) { return EveryPubCall(argc, argv); }
