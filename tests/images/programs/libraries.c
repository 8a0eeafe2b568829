// Libraries loaded at run time: found before the barrier, called after it, closed, loaded again.
#include <bsp.h>
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  bsp_begin(bsp_nprocs());
  void *kept = dlopen("libm.so.6", RTLD_NOW);
  double (*cosine)(double) = (double (*)(double))dlsym(kept, "cos");
  for (int step = 0; step < 4; ++step) {
    void *other = step % 2 ? NULL : dlopen("libz.so.1", RTLD_LAZY);
    bsp_sync();
    double (*root)(double) = (double (*)(double))dlsym(kept, "cbrt");
    printf("%d: %.12f %.12f", step, cosine(step), root(step + 2));
    if (other != NULL) {
      const char *(*version)(void) = (const char *(*)(void))dlsym(other, "zlibVersion");
      printf(" zlib %s", version() ? "there" : "lost");
      dlclose(other);
    }
    printf("\n");
    bsp_sync();
    void *again = dlopen("libm.so.6", RTLD_NOW);
    printf("same %d, unknown %d\n", again == kept, dlsym(again, "no_such_function") == NULL);
    dlclose(again);
  }
  dlclose(kept);
  bsp_end();
  return 0;
}
