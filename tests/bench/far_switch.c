/* far_switch DELAY_US DEVICE ADDRESS [DEVICE ADDRESS ...]: makes a TUN device for each machine, and
 * passes IPv4 packets on between them, each DELAY_US after it came: what a network's cards, switch
 * and cables take, which loopback and virtual cables do not. Says "ready" when the devices are
 * there; they may be moved into network namespaces then. Runs until it is killed. */
#define _GNU_SOURCE /* ppoll */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MACHINES = 32, PACKETS = 4096, PACKET_BYTES = 1500, DESTINATION = 16 };

/* All wait equally long, so one queue is in order of time. */
typedef struct {
  int64_t due_ns;
  int to, bytes;
  unsigned char content[PACKET_BYTES];
} Packet;

static struct pollfd machines[MACHINES];
static in_addr_t addresses[MACHINES];
static int count;
static Packet queue[PACKETS];
static uint64_t first, next;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int open_device(const char *name) {
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0) {
    fprintf(stderr, "far_switch: %s: %s (as root, with /dev/net/tun?)\n", name, strerror(errno));
    exit(1);
  }
  return fd;
}

static int machine_of(const unsigned char *packet) {
  in_addr_t address;
  memcpy(&address, packet + DESTINATION, sizeof address);
  for (int i = 0; i < count; ++i)
    if (addresses[i] == address) return i;
  return -1;
}

/* What does not fit is dropped, as by any switch. */
static void take_in(int machine, int64_t delay_ns) {
  while (next - first < PACKETS) {
    Packet *packet = &queue[next % PACKETS];
    ssize_t bytes = read(machines[machine].fd, packet->content, sizeof packet->content);
    if (bytes <= DESTINATION + 4) return;
    packet->to = machine_of(packet->content);
    packet->bytes = (int)bytes;
    packet->due_ns = now_ns() + delay_ns;
    if (packet->to >= 0) ++next;
  }
}

static void give_out(void) {
  for (; first != next && queue[first % PACKETS].due_ns <= now_ns(); ++first) {
    const Packet *packet = &queue[first % PACKETS];
    if (write(machines[packet->to].fd, packet->content, (size_t)packet->bytes) < 0) continue;
  }
}

int main(int argc, char **argv) {
  if (argc < 4 || argc % 2 != 0 || argc > 2 + 2 * MACHINES) {
    fprintf(stderr, "usage: far_switch DELAY_US DEVICE ADDRESS [DEVICE ADDRESS ...]\n");
    return 2;
  }
  int64_t delay_ns = atoll(argv[1]) * 1000;
  for (int i = 2; i < argc; i += 2, ++count) {
    machines[count].fd = open_device(argv[i]);
    machines[count].events = POLLIN;
    addresses[count] = inet_addr(argv[i + 1]);
  }
  prctl(PR_SET_TIMERSLACK, 1000UL);
  puts("ready");
  fflush(stdout);
  for (;;) {
    struct timespec rest = {0, 0};
    if (first != next) {
      int64_t ns = queue[first % PACKETS].due_ns - now_ns();
      if (ns > 0) rest = (struct timespec){ns / 1000000000, ns % 1000000000};
    }
    const struct timespec *until = first != next ? &rest : NULL;
    if (ppoll(machines, (nfds_t)count, until, NULL) < 0 && errno != EINTR) return 1;
    for (int i = 0; i < count; ++i)
      if ((machines[i].revents & POLLIN) != 0) take_in(i, delay_ns);
    give_out();
  }
}
