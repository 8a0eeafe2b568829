/* memory_traffic.h: puts and gets of BSPlib, buffered and not, small and large, and areas that are
 * registered for some supersteps only: a function of the superstep and the pid. */
#ifndef MEMORY_TRAFFIC_H_
#define MEMORY_TRAFFIC_H_

#include <stddef.h>
#include <stdint.h>

enum { kSmallBytes = 200 }; /* At most, of small traffic. */

/* Of this process and superstep. */
uint64_t draw(void);
int below(int bound);

uint64_t digest(uint64_t sum, const void *bytes, size_t nbytes);

/* Once, by all processes, which end the superstep after it. */
void memory_begin(int large_bytes);

/* In each superstep `number`, before anything is drawn; then the traffic. */
void memory_superstep(int number);
void memory_communicate(int number);

/* What this process holds after it; may be called in the superstep after. */
uint64_t memory_digest(uint64_t sum);

/* large_bytes that never change. */
const unsigned char *memory_still(void);

#endif /* MEMORY_TRAFFIC_H_ */
