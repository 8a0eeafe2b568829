/* raw_tcp P barrier SECONDS
 * raw_tcp 2 exchange|stream CONGESTION SECONDS NBYTES...
 * What TCP on loopback itself allows, without a library: a barrier of P processes and one central
 * process, which all poll with sched_yield for 100 us before they block, and one in which all block
 * at once; two processes that send NBYTES to each other at the same time; and one that sends NBYTES
 * to the other. CONGESTION is the socket's congestion control (TCP_CONGESTION), or `default`.
 * Figures sync, blocking, exchange.NBYTES, stream.NBYTES. */
#define _GNU_SOURCE /* SO_SNDBUFFORCE, MAP_ANONYMOUS */
#include "limit_processes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { kFrameBytes = 64, kBufferBytes = 4 << 20, kProcessesMax = 64 };

static const double kPoll_s = 100e-6;
static double poll_s; /* How long to poll before blocking; 0: block at once. */

/* ---- Sockets --------------------------------------------------------------------------------- */

static void set_option(int fd, int level, int option, int value) {
  require(setsockopt(fd, level, option, &value, sizeof value) == 0, "setsockopt");
}

/* Beyond net.core.wmem_max only root may; what is granted is granted. */
static void set_buffers(int fd) {
  int nbytes = kBufferBytes;
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &nbytes, sizeof nbytes) != 0)
    set_option(fd, SOL_SOCKET, SO_SNDBUF, nbytes);
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &nbytes, sizeof nbytes) != 0)
    set_option(fd, SOL_SOCKET, SO_RCVBUF, nbytes);
}

/* `default` leaves the system's congestion control and buffers as they are. */
static int new_socket(const char *congestion) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  require(fd >= 0, "socket");
  if (strcmp(congestion, "default") == 0) return fd;
  require(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)) == 0,
          "this congestion control is not allowed here");
  set_buffers(fd);
  return fd;
}

/* Two ends of one TCP connection over loopback. */
static void connect_pair(const char *congestion, int ends[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = new_socket(congestion);
  require(bind(listener, (struct sockaddr *)&address, length) == 0, "bind");
  require(listen(listener, 1) == 0, "listen");
  require(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
  ends[0] = new_socket(congestion);
  require(connect(ends[0], (struct sockaddr *)&address, length) == 0, "connect");
  ends[1] = accept(listener, NULL, NULL);
  require(ends[1] >= 0, "accept");
  close(listener);
  for (int i = 0; i < 2; ++i) set_option(ends[i], IPPROTO_TCP, TCP_NODELAY, 1);
}

static int would_block(ssize_t status) {
  return status < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* ---- The barrier ----------------------------------------------------------------------------- */

static int to_central;

/* One frame; polls for poll_s, then blocks. */
static void receive_frame(int fd, char *frame) {
  double until_s = now_s() + poll_s;
  size_t got = 0;
  int flags = poll_s > 0 ? MSG_DONTWAIT : 0;
  while (got < kFrameBytes) {
    ssize_t n = recv(fd, frame + got, kFrameBytes - got, flags);
    require(n > 0 || would_block(n), "recv");
    if (n > 0) {
      got += (size_t)n;
    } else {
      sched_yield();
      if (now_s() > until_s) flags = 0;
    }
  }
}

static void send_frame(int fd, const char *frame) {
  require(send(fd, frame, kFrameBytes, MSG_NOSIGNAL) == kFrameBytes, "send");
}

static void tcp_barrier(void *context) {
  char *frame = context;
  send_frame(to_central, frame);
  receive_frame(to_central, frame);
}

static int wait_for_frames(int epoll, struct epoll_event *events) {
  double until_s = now_s() + poll_s;
  int n = 0;
  while (poll_s > 0 && (n = epoll_wait(epoll, events, kProcessesMax, 0)) == 0 && now_s() < until_s)
    sched_yield();
  if (n == 0) n = epoll_wait(epoll, events, kProcessesMax, -1);
  require(n > 0, "epoll_wait");
  return n;
}

/* Releases all when all have arrived, until the first of them leaves. */
static void serve(const int *fds) {
  struct epoll_event events[kProcessesMax];
  char frame[kFrameBytes];
  int epoll = epoll_create1(0), arrived = 0;
  for (int i = 0; i < nprocs; ++i) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};
    require(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) == 0, "epoll_ctl");
  }
  for (;;) {
    int n = wait_for_frames(epoll, events);
    for (int i = 0; i < n; ++i) {
      ssize_t got = recv(events[i].data.fd, frame, sizeof frame, 0);
      if (got <= 0) return;
      require(got == kFrameBytes, "a frame in pieces");
      ++arrived;
    }
    if (arrived < nprocs) continue;
    arrived = 0;
    for (int i = 0; i < nprocs; ++i) send_frame(fds[i], frame);
  }
}

/* P processes, and a central one that none of them waits for in `agree`. */
static void measure_barrier(int p, double budget_s) {
  int mine[kProcessesMax], theirs[kProcessesMax];
  char frame[kFrameBytes] = {0};
  require(p <= kProcessesMax, "too many processes");
  for (int i = 0; i < p; ++i) {
    int ends[2];
    connect_pair("default", ends);
    mine[i] = ends[0];
    theirs[i] = ends[1];
  }
  nprocs = p;
  pid_t central = fork();
  require(central >= 0, "fork");
  if (central == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < p; ++i) close(mine[i]);
    serve(theirs);
    exit(0);
  }
  start_processes(p);
  for (int i = 0; i < p; ++i) {
    close(theirs[i]);
    if (i != pid) close(mine[i]);
  }
  to_central = mine[pid];
  Timing timing = measure(tcp_barrier, frame, agree, budget_s, 1e-3);
  if (pid == 0) report(poll_s > 0 ? "sync" : "blocking", timing);
  agree(0);
  if (pid != 0) exit(0);
  close(to_central);
}

/* ---- Streams --------------------------------------------------------------------------------- */

typedef struct {
  int fd;
  int sends, receives;
  char *out, *in;
  size_t nbytes;
} Stream;

/* All that is to be sent and received, as much at a time as TCP takes, with sched_yield where it
 * takes nothing. */
static void transfer(void *context) {
  const Stream *s = context;
  size_t to_send = s->sends ? s->nbytes : 0, to_receive = s->receives ? s->nbytes : 0;
  while (to_send + to_receive > 0) {
    ssize_t sent = 0, got = 0;
    if (to_send > 0)
      sent = send(s->fd, s->out + s->nbytes - to_send, to_send, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (to_receive > 0) got = recv(s->fd, s->in + s->nbytes - to_receive, to_receive, MSG_DONTWAIT);
    require(sent >= 0 || would_block(sent), "send");
    require(got > 0 || to_receive == 0 || would_block(got), "recv");
    if (sent > 0) to_send -= (size_t)sent;
    if (got > 0) to_receive -= (size_t)got;
    if (sent <= 0 && got <= 0) sched_yield();
  }
}

/* A stream's end is when its receiver has all. */
static void stream_and_answer(void *context) {
  Stream *s = context;
  transfer(s);
  char done = 1;
  if (s->sends)
    require(recv(s->fd, &done, 1, 0) == 1, "recv");
  else
    require(send(s->fd, &done, 1, MSG_NOSIGNAL) == 1, "send");
}

static void measure_streams(int argc, char **argv) {
  int ends[2], both_ways = strcmp(argv[2], "exchange") == 0;
  connect_pair(argv[3], ends);
  start_processes(2);
  Stream s = {.fd = ends[pid], .sends = both_ways || pid == 0, .receives = both_ways || pid == 1};
  for (int i = 5; i < argc; ++i) {
    char name[64];
    s.nbytes = (size_t)atol(argv[i]);
    s.out = allocate(s.nbytes);
    s.in = allocate(s.nbytes);
    memset(s.out, pid + 2, s.nbytes);
    Timing timing =
        measure(both_ways ? transfer : stream_and_answer, &s, agree, atof(argv[4]), 2e-4);
    if (s.receives) require(s.in[0] == 3 - pid && s.in[s.nbytes - 1] == 3 - pid, "a stream");
    snprintf(name, sizeof name, "%s.%zu", argv[2], s.nbytes);
    if (pid == 0) report(name, timing);
    free(s.out);
    free(s.in);
  }
}

int main(int argc, char **argv) {
  require(argc >= 4, "usage: raw_tcp P barrier|exchange|stream ...");
  share_memory();
  if (strcmp(argv[2], "barrier") == 0) {
    for (int blocking = 0; blocking < 2; ++blocking) {
      poll_s = blocking ? 0 : kPoll_s;
      measure_barrier(atoi(argv[1]), atof(argv[3]));
      require(end_processes() == 0, "a process");
    }
    return 0;
  }
  require(argc > 5 && atoi(argv[1]) == 2, "usage: raw_tcp 2 exchange|stream CONGESTION SECONDS N");
  measure_streams(argc, argv);
  return end_processes();
}
