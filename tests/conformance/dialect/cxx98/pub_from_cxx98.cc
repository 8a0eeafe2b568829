/* Source: dialects, PUB, statement 2
 * Claim: pub.h can be used from C++98.
 */
#include "dialect/every_pub_call.h"

int main(int argc, char **argv) { return EveryPubCall(argc, argv); }
