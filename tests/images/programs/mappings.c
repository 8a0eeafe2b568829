// A random walk through what can be done to mappings: made, unmapped in part, moved, grown, shrunk,
// protected, emptied, written, zeroed, put in the place of others. After each superstep the content
// of all of them is summed up: a page that an image missed, or that came back from an older one,
// shows.
#define _GNU_SOURCE
#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, AREAS = 50, PAGES_MAX = 150, STEPS = 10, CHANGES = 120 };

struct area {
  char *at;
  int pages;
  int protection;
  int in_pieces;
};

static struct area areas[AREAS];
static uint64_t seed = 88172645463325252u;

static int random_below(int n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (int)(seed % (unsigned)n);
}

static char *map(void *at, int pages, int flags) {
  return mmap(at, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
              -1, 0);
}

static void make(struct area *area) {
  if (area->at != NULL) munmap(area->at, (size_t)area->pages * PAGE);
  area->pages = 1 + random_below(PAGES_MAX);
  area->at = map(NULL, area->pages, 0);
  area->protection = PROT_READ | PROT_WRITE;
  area->in_pieces = 0;
  if (random_below(4) == 0) madvise(area->at, (size_t)area->pages * PAGE, MADV_HUGEPAGE);
}

static void allow(const struct area *area, int protection) {
  mprotect(area->at, (size_t)area->pages * PAGE, protection);
}

// To `place`, or anywhere. What is in several pieces is copied: the kernel may move the first of
// them and then give up.
static void move(struct area *area, char *place, int pages) {
  const size_t old_bytes = (size_t)area->pages * PAGE, bytes = (size_t)pages * PAGE;
  allow(area, PROT_READ | PROT_WRITE);
  char *moved = MAP_FAILED;
  if (!area->in_pieces) {
    moved = mremap(area->at, old_bytes, bytes, MREMAP_MAYMOVE | (place ? MREMAP_FIXED : 0), place);
  }
  if (moved == MAP_FAILED) {
    moved = map(place, pages, place ? MAP_FIXED : 0);
    memcpy(moved, area->at, old_bytes < bytes ? old_bytes : bytes);
    munmap(area->at, old_bytes);
    area->in_pieces = 0;
  }
  area->at = moved;
  area->pages = pages;
}

// The content of one area goes to the place of another, which is gone then.
static void replace(struct area *area, struct area *other) {
  if (area == other || other->at == NULL) return;
  munmap(area->at, (size_t)area->pages * PAGE);
  move(other, map(NULL, other->pages, 0), other->pages);
  *area = *other;
  other->at = NULL;
}

static void change(struct area *area) {
  if (area->at == NULL || random_below(12) == 0) {
    make(area);
    return;
  }
  const int first = random_below(area->pages);
  const int count = 1 + random_below(area->pages - first);
  char *at = area->at + (size_t)first * PAGE;
  const size_t bytes = (size_t)count * PAGE;
  switch (random_below(10)) {
    case 0:
      move(area, NULL, 1 + random_below(PAGES_MAX));
      break;
    case 1:
      replace(area, &areas[random_below(AREAS)]);
      break;
    case 2:
      area->protection = random_below(8) & (PROT_READ | PROT_WRITE | PROT_EXEC);
      break;
    case 3:
      map(at, count, MAP_FIXED);
      area->in_pieces = 1;
      break;
    case 4:
      madvise(at, bytes, MADV_DONTNEED);
      break;
    case 5:
      allow(area, PROT_READ | PROT_WRITE);
      memset(area->at, 0, (size_t)area->pages * PAGE / 2);
      break;
    default:
      allow(area, PROT_READ | PROT_WRITE);
      for (int i = 0; i < area->pages; i += 1 + random_below(9))
        area->at[(size_t)i * PAGE + (size_t)random_below(PAGE)] = (char)random_below(256);
  }
  if (area->at != NULL) allow(area, area->protection);
}

static uint64_t sum(void) {
  uint64_t total = 0;
  for (int k = 0; k < AREAS; ++k) {
    if (areas[k].at == NULL) continue;
    allow(&areas[k], areas[k].protection | PROT_READ);
    const uint64_t *words = (const uint64_t *)areas[k].at;
    for (size_t i = 0; i < (size_t)areas[k].pages * PAGE / 8; ++i) total = total * 31 + words[i];
    allow(&areas[k], areas[k].protection);
  }
  return total;
}

int main(void) {
  bsp_begin(bsp_nprocs());
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < CHANGES; ++i) change(&areas[random_below(AREAS)]);
    bsp_sync();
    printf("%d: %016lx\n", step, (unsigned long)sum());
    // A child that copies what it writes, and is gone by the next barrier.
    const pid_t child = fork();
    if (child == 0) _exit((int)(sum() & 63));
    int status;
    waitpid(child, &status, 0);
    printf("child says %d\n", WEXITSTATUS(status));
  }
  bsp_end();
  return 0;
}
