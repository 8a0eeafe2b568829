/* mcbsp.h: bsp.h in the dialect of MulticoreBSP for C: sizes are size_t, counts and pids unsigned.
 * Programs written for it include this header, and rely on the types of <stdint.h>.
 *
 * Such a program has as many SPMD sections as it likes, one after another and within others. See
 * "SPMD sections of MulticoreBSP's dialect" in docs/semantics.md.
 */
#ifndef MCBSP_H_
#define MCBSP_H_

#if defined(BSP_H_) && !defined(BSP_MULTICORE)
#error "bsp.h came before mcbsp.h: include mcbsp.h first, or compile with bspcc --multicore"
#endif
#ifndef BSP_MULTICORE
#define BSP_MULTICORE
#endif

#include <bsp.h>
#include <stdint.h>

#endif /* MCBSP_H_ */
