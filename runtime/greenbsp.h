/* greenbsp.h: the packets of the Green BSP library (Goudreau, Lang, Rao, Tsantilas 1995), which
 * "sends a fixed-size packet to a specified destination processor"; it is stored in a queue there
 * and "can be extracted after the next barrier synchronization" (Bonorden et al. 2003, "PUB",
 * section 1.1). A program begins and ends with bsp_begin and bsp_end, and may use the calls of
 * bsp.h, too, but for a tag size: packets are messages without tags. Usable from C89 to C23 and
 * from C++.
 */
#ifndef GREENBSP_H_
#define GREENBSP_H_

#include <bsp.h>

enum { BSP_PACKET_BYTES = 16 };

/* What a packet holds is the program's affair: it is copied as it is. */
typedef union {
  char bytes[BSP_PACKET_BYTES];
  long integers[2];
  double reals[2];
} bspPkt;

/* `inline` is not in C89. */
#if defined(__GNUC__) || defined(__clang__)
#define GREENBSP_CALL_ static __inline__ __attribute__((__always_inline__, __unused__))
#else
#define GREENBSP_CALL_ static
#endif

/* Sends a packet to the queue of `dest`, where it can be read after the next bspSynch, and until
 * the one after. It is copied before the call returns. Error: dest outside 0..p-1. Adds 16 bytes to
 * h. */
GREENBSP_CALL_ void bspSendPkt(int dest, const bspPkt *packet) {
  bsp_send((bsp_pid_t)dest, NULL, packet, BSP_PACKET_BYTES);
}

/* Takes a packet from the queue; NULL if there is none. It may be read, and written to, until the
 * next bspSynch. Packets come in the order of the pids that sent them and of issue, which programs
 * for other libraries do not count on. Local, copies nothing. */
GREENBSP_CALL_ bspPkt *bspGetPkt(void) {
  void *tag, *packet;
  const bsp_size_t size = bsp_hpmove(&tag, &packet);
  if (size == (bsp_size_t)-1) return NULL;
  if (size != BSP_PACKET_BYTES) {
    bsp_fail("bspGetPkt",
             "the queue has a message of %lu bytes, and a packet has 16; read what"
             " bsp_send has sent by bsp_move",
             (unsigned long)size);
  }
  return (bspPkt *)packet;
}

/* Ends the superstep, as bsp_sync does. Cost: h*g + l. */
GREENBSP_CALL_ void bspSynch(void) { bsp_sync(); }

#endif /* GREENBSP_H_ */
