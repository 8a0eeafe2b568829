/* Source: BSPlib 1997, Starting and finishing, statement 6
 * Claim: Process zero may use files, before, in and after the parallel part.
 */
#include "bsp.h"
#include "expect.h"

static FILE *file;

static void spmd(void) {
  bsp_begin(bsp_nprocs());
  if (bsp_pid() == 0) EXPECT(fprintf(file, " two") == 4);
  bsp_sync();
  bsp_end();
}

int main(int argc, char **argv) {
  char line[80];
  bsp_init(spmd, argc, argv);
  file = tmpfile();
  EXPECT_OUTSIDE(file != NULL);
  fprintf(file, "one");
  spmd();
  fprintf(file, " three\n");
  rewind(file);
  EXPECT_OUTSIDE(fgets(line, sizeof(line), file) != NULL);
  fclose(file);
  puts(line[0] == 'o' && line[4] == 't' && line[8] == 't' ? "ok" : line);
  return 0;
}
