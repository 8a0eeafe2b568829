#include "runtime/testing/saved_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "base/freestanding/raw_call.h"
#include "runtime/image/file/image_hash.h"

namespace bspnow::runtime {
namespace {

template <typename T>
const T* FindAddress(const std::vector<T>& sorted, std::uint64_t address,
                     std::uint64_t (*end_of)(const T&)) {
  for (const T& item : sorted) {
    if (address >= item.start && address < end_of(item)) return &item;
  }
  return nullptr;
}

}  // namespace

std::string MemoryAt(std::uint64_t address, std::size_t bytes) {
  std::string copy(bytes, '\0');
  CopyRaw(copy.data(), reinterpret_cast<const void*>(address), bytes);
  return copy;
}

FilledPages::FilledPages() : region_(MappedRegion::Private(kBytes)) {
  for (std::size_t page = 0; page < kPages; ++page) Touch(page);
}

void FilledPages::Touch(std::size_t page) { memset(at(page), 1 + touches_++ % 250, 100); }

ReadImage::ReadImage(const std::string& path)
    : content_(MappedRegion::Private(kImagePageBytes)), file_bytes_(0) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (fstat(file.get(), &status) != 0 || status.st_size == 0) return;
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  content_ = MappedRegion::Private(file_bytes_);
  EXPECT_EQ(read(file.get(), content_.data(), file_bytes_), status.st_size);
  regions_ = regions();
  runs_ = runs();
  files_ = files();
}

std::string ReadImage::String(std::uint64_t offset) const {
  return At<char>(header().strings.offset + offset);
}

bool ReadImage::IsSound() const {
  ImageHeader copy = header();
  copy.header_hash = 0;
  const bool known = copy.magic == kImageMagic && copy.complete == kImageComplete &&
                     copy.version == kImageVersion && copy.file_bytes == file_bytes_ &&
                     ImageHash(&copy, sizeof copy) == header().header_hash;
  if (!known || copy.data.offset % kImagePageBytes != 0) return false;
  std::uint64_t at = kImagePageBytes;
  for (const ImageChunk& chunk : Table<ImageChunk>(copy.chunks)) {
    const std::uint64_t bytes = std::min<std::uint64_t>(kImageChunkBytes, copy.chunks.offset - at);
    if (ImageHash(content_.data() + at, bytes) != chunk.hash) return false;
    at += bytes;
  }
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  return at == copy.chunks.offset && std::is_sorted(regions_.begin(), regions_.end(), by_start) &&
         std::is_sorted(runs_.begin(), runs_.end(), by_start);
}

const ImageRegion* ReadImage::RegionOf(const void* address) const {
  return FindAddress<ImageRegion>(regions_, reinterpret_cast<std::uint64_t>(address),
                                  [](const ImageRegion& region) { return region.end; });
}

const ImageRun* ReadImage::RunOf(const void* address) const {
  return FindAddress<ImageRun>(runs_, reinterpret_cast<std::uint64_t>(address),
                               [](const ImageRun& run) { return run.start + run.bytes; });
}

const ImageFile* ReadImage::FileAt(int descriptor) const {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const ImageFile& file) {
    return file.descriptor == static_cast<std::uint32_t>(descriptor);
  });
  return found == files_.end() ? nullptr : &*found;
}

bool ReadImage::Holds(const void* data, std::size_t bytes) const {
  auto at = reinterpret_cast<std::uint64_t>(data);
  const std::uint64_t end = at + bytes;
  while (at < end) {
    const ImageRun* const run = RunOf(reinterpret_cast<const void*>(at));
    if (run == nullptr || run->kind != ImageRun::kData) return false;
    const std::uint64_t part =
        std::min({end - at, run->start + run->bytes - at, std::uint64_t{kImagePageBytes}});
    const std::uint64_t offset = run->offset + (at - run->start);
    if (offset + part > file_bytes_ || Bytes(offset, part) != MemoryAt(at, part)) return false;
    at += part;
  }
  return true;
}

SavedProcess::SavedProcess() {
  close_range(STDERR_FILENO + 1, ~0u, 0);  // As its worker starts a process.
  const char* const root = getenv("TEST_TMPDIR");
  directory_ = std::string(root == nullptr ? "/tmp" : root) + "/imageXXXXXX";
  if (mkdtemp(directory_.data()) == nullptr) abort();
  directory_fd_ = UniqueFd(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) abort();
  link_ = UniqueFd(ends[0]);
  worker_ = UniqueFd(ends[1]);
  mailbox_ = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

SavedProcess::~SavedProcess() { std::filesystem::remove_all(directory_); }

std::string SavedProcess::PathOf(std::uint64_t checkpoint) const {
  return directory_ + "/c" + std::to_string(checkpoint) + ".p3.new";
}

ImageRequest SavedProcess::Request(std::uint64_t checkpoint, std::uint64_t base) const {
  ImageRequest request{};
  request.job = 17;
  request.checkpoint = checkpoint;
  request.base = base;
  request.superstep = 100 + checkpoint;
  request.pid = 3;
  request.nprocs = 4;
  request.elapsed_ns = 5'000'000'000;
  request.processor_ns = 4'000'000'000;
  request.directory = directory_fd_.get();
  request.link = link_.get();
  request.doorbell = worker_.get();
  request.mailbox = mailbox_.get();
  for (int& lane : request.lanes) lane = -1;
  return request;
}

LinkImageReport SavedProcess::AwaitReport() {
  LinkImageReport report{};
  EXPECT_EQ(recv(worker_.get(), &report, sizeof report, 0), ssize_t{sizeof report});
  return report;
}

LinkImageReport SavedProcess::Save(std::uint64_t checkpoint, std::uint64_t base) {
  image_.Save(Request(checkpoint, base));
  return AwaitReport();
}

ReadImage SavedProcess::SaveAndRead(std::uint64_t checkpoint, std::uint64_t base) {
  const LinkImageReport report = Save(checkpoint, base);
  EXPECT_EQ(report.written, 1u) << report.reason;
  EXPECT_EQ(report.checkpoint, checkpoint);
  ReadImage image(PathOf(checkpoint));
  EXPECT_EQ(report.file_bytes, image.file_bytes());
  EXPECT_TRUE(image.IsSound());
  return image;
}

void Deny(const DeniedCall& call) {
  const auto number = static_cast<std::uint32_t>(call.number);
  const auto argument = static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                                   call.argument * sizeof(std::uint64_t));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(call.error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(filter), .filter = filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

// As the exit status of a test's process.
constexpr int kSkipped = 77;

void InProcess(const std::function<void(SavedProcess&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    {
      SavedProcess process;
      body(process);
    }
    fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : testing::Test::IsSkipped() ? kSkipped : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "why is above";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "what failed is above";
}

}  // namespace bspnow::runtime
