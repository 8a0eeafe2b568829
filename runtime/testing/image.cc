#include "runtime/testing/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <span>

#include "base/check.h"
#include "base/clock.h"
#include "base/send_descriptors.h"
#include "runtime/image/process_image.h"

namespace bspnow::runtime {
namespace {

constexpr char kStranger[] = "not of this library";

// Of this process; a child has its own.
struct Life {
  int images = 0;
  int restored = 0;
  int doorbell = -1;
  int directory = -1;
  const char* segment = nullptr;
};
constinit Life life;  // tidy: a stand-in has no other place

ImageForTest Describe(const ImageRequest& request, ImageKind kind) {
  return {.kind = static_cast<std::uint32_t>(kind),
          .pid = request.pid,
          .nprocs = request.nprocs,
          .os_pid = kind == ImageKind::kProcess ? getpid() : 0,
          .checkpoint = request.checkpoint,
          .base = request.base,
          .superstep = request.superstep};
}

void ReportWritten(const ImageRequest& request) {
  LinkImageReport report{};
  report.magic = kLinkMagic;
  report.version = kLinkVersion;
  report.kind = LinkImageReport::kKind;
  report.written = 1;
  report.checkpoint = request.checkpoint;
  SendWithFd(request.link, &report, sizeof report, -1);
}

void PutAStranger(int fd) {
  if (fd < 0) return;
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(null.get(), fd);
}

// The child's life as an image, until it is restored.
void Freeze(const ImageRequest& request) {
  const ImageForTest image = Describe(request, ImageKind::kProcess);
  const UniqueFd socket(fcntl(request.directory, F_DUPFD_CLOEXEC, 100));
  SendWithFd(socket.get(), &image, sizeof image, -1);
  char go;
  const UniqueFd link = ReceiveWithFd(socket.get(), &go, sizeof go);
  dup2(link.get(), request.link);
  PutAStranger(request.doorbell);
  PutAStranger(request.directory);
  // The segment is not inherited: its place is free.
  void* place = const_cast<void*>(request.segment);
  BSP_CHECK(mmap(place, kPageBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == place);
  memcpy(place, kStranger, sizeof kStranger);
  life.restored += 1;
  life.doorbell = request.doorbell;
  life.directory = request.directory;
  life.segment = static_cast<const char*>(place);
}

}  // namespace

void SendWithFd(int socket, const void* message, std::size_t bytes, int fd) {
  const std::span text(static_cast<const std::byte*>(message), bytes);
  const ssize_t sent = SendDescriptors(socket, text, {&fd, fd >= 0 ? 1u : 0u}, IfFull::kWait);
  // Who has ended meanwhile gets nothing; its status says why.
  BSP_CHECK(sent == static_cast<ssize_t>(bytes) || errno == EPIPE || errno == ECONNRESET);
}

UniqueFd ReceiveWithFd(int socket, void* message, std::size_t bytes) {
  iovec part{message, bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(bytes)) _exit(1);
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights == nullptr) return UniqueFd();
  int fd;
  memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  return UniqueFd(fd);
}

int ImagesTaken() { return life.images; }
int TimesRestored() { return life.restored; }

bool StrangersAreIntact() {
  for (const int fd : {life.doorbell, life.directory}) {
    if (fd >= 0 && fcntl(fd, F_GETFD) < 0) return false;
  }
  return memcmp(life.segment, kStranger, sizeof kStranger) == 0;
}

ImageOutcome ProcessImage::Save(const ImageRequest& request) {
  life.images += 1;
  writer_ = fork();
  BSP_CHECK(writer_ >= 0);
  if (writer_ == 0) {
    Freeze(request);
    return ImageOutcome::kRestored;
  }
  last_ = request.checkpoint;
  tracker_ = -1;
  ReportWritten(request);
  return ImageOutcome::kStarted;
}

// The header and then the areas, nothing between. The job has run for longer than the machine has
// been up, as one has that comes from another machine.
ImageOutcome ProcessImage::SaveAreas(const ImageRequest& request, const SavedArea* areas,
                                     std::size_t count) {
  life.images += 1;
  const UniqueFd file(memfd_create("areas", MFD_CLOEXEC));
  ImageHeader header{};
  header.superstep = request.superstep;
  header.elapsed_ns = request.elapsed_ns + NowNs();
  header.processor_ns = request.processor_ns;
  header.areas.count = count;
  BSP_CHECK(write(file.get(), &header, sizeof header) == sizeof header);
  for (std::size_t i = 0; i < count; ++i) {
    BSP_CHECK(write(file.get(), areas[i].data, areas[i].bytes) ==
              static_cast<ssize_t>(areas[i].bytes));
  }
  const ImageForTest image = Describe(request, ImageKind::kAreas);
  SendWithFd(request.directory, &image, sizeof image, file.get());
  ReportWritten(request);
  return ImageOutcome::kStarted;
}

bool LoadAreas(int image, const SavedArea* areas, std::size_t count, char* reason,
               std::size_t reason_bytes) {
  ImageHeader header;
  BSP_CHECK(pread(image, &header, sizeof header, 0) == sizeof header);
  if (header.areas.count != count) {
    strncpy(reason, "another number of areas was saved", reason_bytes - 1);
    return false;
  }
  off_t at = sizeof header;
  for (std::size_t i = 0; i < count; ++i) {
    BSP_CHECK(pread(image, areas[i].data, areas[i].bytes, at) ==
              static_cast<ssize_t>(areas[i].bytes));
    at += static_cast<off_t>(areas[i].bytes);
  }
  return true;
}

}  // namespace bspnow::runtime
