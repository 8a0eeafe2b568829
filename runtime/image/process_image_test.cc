#include "runtime/image/process_image.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mapped_region.h"
#include "runtime/testing/saved_process.h"

namespace bspnow::runtime {
namespace {

int global_numbers[5000] = {1};      // tidy: to be saved
thread_local int thread_number = 5;  // tidy: to be saved, too

TEST(ProcessImageTest, FullImageHoldsHeapStackGlobalsAndMappings) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;
    const auto heap = std::make_unique<int[]>(100'000);
    for (int i = 0; i < 100'000; ++i) heap[static_cast<std::size_t>(i)] = i + 1;
    for (int& number : global_numbers) number = 7;
    thread_number = 6;
    char on_stack[100];
    strcpy(on_stack, "on the stack");
    const ReadImage image = process.SaveAndRead(1, 0);
    EXPECT_EQ(image.header().base, 0u);
    EXPECT_TRUE(image.Holds(pages.at(0), kBytes));
    EXPECT_TRUE(image.Holds(heap.get(), 100'000 * sizeof(int)));
    EXPECT_TRUE(image.Holds(global_numbers, sizeof global_numbers));
    EXPECT_TRUE(image.Holds(&thread_number, sizeof thread_number));
    EXPECT_TRUE(image.Holds(on_stack, sizeof on_stack));
  });
}

TEST(ProcessImageTest, HeaderSaysWhatWasAskedFor) {
  InProcess([](SavedProcess& process) {
    const ReadImage image = process.SaveAndRead(9, 0);
    const ImageHeader& header = image.header();
    EXPECT_EQ(header.kind, static_cast<std::uint32_t>(ImageKind::kProcess));
    EXPECT_EQ(header.job, 17u);
    EXPECT_EQ(header.checkpoint, 9u);
    EXPECT_EQ(header.superstep, 109u);
    EXPECT_EQ(header.pid, 3u);
    EXPECT_EQ(header.nprocs, 4u);
    EXPECT_EQ(header.files.count, 3u);  // Only what every process has.
  });
}

TEST(ProcessImageTest, RegionsAreTheAddressSpaceButWhatIsRebuilt) {
  InProcess([](SavedProcess& process) {
    ImageRequest request = process.Request(1, 0);
    MappedRegion segment = MappedRegion::Private(4 * kImagePageBytes);
    *segment.data() = std::byte{1};
    request.segment = segment.data() + kImagePageBytes;  // Its neighbours are the program's.
    request.segment_bytes = 2 * kImagePageBytes;
    ASSERT_EQ(process.image().Save(request), ImageOutcome::kStarted);
    ASSERT_EQ(process.AwaitReport().written, 1u);
    const ReadImage image(process.PathOf(1));
    EXPECT_NE(image.RegionOf(segment.data()), nullptr);
    EXPECT_EQ(image.RegionOf(segment.data() + kImagePageBytes), nullptr);
    EXPECT_EQ(image.RegionOf(segment.data() + 3 * kImagePageBytes - 1), nullptr);
    EXPECT_NE(image.RegionOf(segment.data() + 3 * kImagePageBytes), nullptr);
    const ImageRegion* const stack = image.RegionOf(__builtin_frame_address(0));
    ASSERT_NE(stack, nullptr);
    EXPECT_TRUE(stack->flags & ImageRegion::kStack);
    const auto vdso = reinterpret_cast<const void*>(getauxval(AT_SYSINFO_EHDR));
    ASSERT_NE(image.RegionOf(vdso), nullptr);
    EXPECT_TRUE(image.RegionOf(vdso)->flags & ImageRegion::kVdso);
    EXPECT_TRUE(image.Holds(vdso, kImagePageBytes));
  });
}

TEST(ProcessImageTest, TextLiesInFilesOfItsOwnNamedByContent) {
  InProcess([](SavedProcess& process) {
    const ReadImage image = process.SaveAndRead(1, 0);
    const auto code = reinterpret_cast<const void*>(&InProcess);
    const ImageRegion* const region = image.RegionOf(code);
    ASSERT_NE(region, nullptr);
    ASSERT_TRUE(region->flags & ImageRegion::kText);
    EXPECT_EQ(image.RunOf(code), nullptr);
    const ImageText text = image.texts()[region->text];
    char name[64];
    snprintf(name, sizeof name, "/text-%016lx%016lx.new", text.hash_high, text.hash_low);
    std::ifstream file(process.directory() + name, std::ios::binary);
    std::string content(text.bytes, '\0');
    ASSERT_TRUE(file.read(content.data(), static_cast<std::streamsize>(text.bytes))) << name;
    EXPECT_EQ(content.substr(region->text_offset, region->end - region->start),
              MemoryAt(region->start, region->end - region->start));
    EXPECT_EQ(image.String(text.name), std::filesystem::read_symlink("/proc/self/exe").string());
  });
}

TEST(ProcessImageTest, ZeroPagesTakeNoSpace) {
  InProcess([](SavedProcess& process) {
    const MappedRegion zeroes = MappedRegion::Private(kBytes);
    const std::uint64_t before = process.Save(1, 0).file_bytes;
    memset(zeroes.data(), 0, kBytes);
    const ReadImage image = process.SaveAndRead(2, 0);
    EXPECT_EQ(image.RunOf(zeroes.data()), nullptr);
    EXPECT_LT(image.file_bytes(), before + kBytes / 2);
  });
}

TEST(ProcessImageTest, PagesThatCannotBeReadAreSaved) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;
    mprotect(pages.at(0), kBytes, PROT_NONE);
    const LinkImageReport report = process.Save(1, 0);
    ASSERT_EQ(report.written, 1u) << report.reason;
    mprotect(pages.at(0), kBytes, PROT_READ);
    const ReadImage image(process.PathOf(1));
    EXPECT_TRUE(image.Holds(pages.at(0), kBytes));
    ASSERT_NE(image.RegionOf(pages.at(0)), nullptr);
    EXPECT_EQ(image.RegionOf(pages.at(0))->protection, std::uint32_t{PROT_NONE});
  });
}

TEST(ProcessImageTest, PrivateFilesAreSavedUpToTheirEnd) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/input";
    std::ofstream(path) << std::string(10'000, 'x');
    const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    void* const at =
        mmap(nullptr, 10 * kImagePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
    const auto* const bytes = static_cast<const std::byte*>(at);
    const ReadImage image = process.SaveAndRead(1, 0);
    EXPECT_TRUE(image.Holds(bytes, 10'000));
    EXPECT_EQ(image.RunOf(bytes + 3 * kImagePageBytes), nullptr);
    EXPECT_NE(image.RegionOf(bytes + 9 * kImagePageBytes), nullptr);
  });
}

TEST(ProcessImageTest, TerabyteOfUnusedAddressSpaceIsNothing) {
  InProcess([](SavedProcess& process) {
    constexpr std::size_t kTerabyte = std::size_t{1} << 40;
    void* const at =
        mmap(nullptr, kTerabyte, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    const auto* const bytes = static_cast<const std::byte*>(at);
    const ReadImage image = process.SaveAndRead(1, 0);
    EXPECT_EQ(image.RegionOf(bytes + kTerabyte / 2)->end - image.RegionOf(bytes)->start, kTerabyte);
    EXPECT_EQ(image.RunOf(bytes), nullptr);
    EXPECT_TRUE(image.RegionOf(bytes)->flags & ImageRegion::kNoReserve);
  });
}

TEST(ProcessImageTest, StateIsThatOfTheProcess) {
  InProcess([](SavedProcess& process) {
    signal(SIGUSR1, [](int) {});
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
    const itimerval timer{.it_interval = {.tv_sec = 500, .tv_usec = 3},
                          .it_value = {.tv_sec = 1000, .tv_usec = 0}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    umask(0777);  // Its worker reads the image all the same.
    const auto brk = reinterpret_cast<std::uint64_t>(sbrk(0));
    const ReadImage image = process.SaveAndRead(1, 0);
    const ImageState& state = image.state();
    const auto code = reinterpret_cast<const void*>(state.registers.rip);
    ASSERT_NE(image.RegionOf(code), nullptr);
    EXPECT_TRUE(image.RegionOf(code)->protection & PROT_EXEC);
    const auto stack = reinterpret_cast<const void*>(state.registers.rsp);
    ASSERT_NE(image.RegionOf(stack), nullptr);
    EXPECT_TRUE(image.RegionOf(stack)->flags & ImageRegion::kStack);
    EXPECT_EQ(state.signals[SIGUSR1 - 1].handler,
              reinterpret_cast<std::uint64_t>(signal(SIGUSR1, SIG_DFL)));
    EXPECT_EQ(state.signal_mask, std::uint64_t{1} << (SIGUSR2 - 1));
    EXPECT_EQ(state.intervals[ITIMER_REAL].interval_us, 500'000'003u);
    EXPECT_GT(state.intervals[ITIMER_REAL].value_us, 900'000'000u);
    EXPECT_EQ(state.umask, 0777u);
    EXPECT_EQ(std::filesystem::status(process.PathOf(1)).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_EQ(state.os_pid, static_cast<std::uint32_t>(getpid()));
    EXPECT_EQ(state.brk, brk);
    EXPECT_LE(state.start_brk, state.brk);
    EXPECT_NE(image.RegionOf(reinterpret_cast<const void*>(state.start_code)), nullptr);
    EXPECT_STREQ(reinterpret_cast<const char*>(state.arg_start), program_invocation_name);
    EXPECT_NE(state.tid_address, 0u);
    EXPECT_NE(state.robust_list, 0u);
    EXPECT_EQ(image.String(state.directory), std::filesystem::current_path().string());
    const std::string auxv =
        image.Bytes(image.header().strings.offset + state.auxv_offset, state.auxv_bytes);
    std::ifstream file("/proc/self/auxv", std::ios::binary);
    EXPECT_EQ(auxv, std::string(std::istreambuf_iterator<char>(file), {}));
    EXPECT_NE(image.String(state.cpu_features).find("sse2"), std::string::npos);
    EXPECT_TRUE(state.xcr0 & 2);
  });
}

TEST(ProcessImageTest, TimerThatHasJustExpiredExpiresAgainInTheRestoredProcess) {
  InProcess([](SavedProcess& process) {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, nullptr);
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 1}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    for (sigset_t pending{}; sigismember(&pending, SIGALRM) == 0;) sigpending(&pending);
    EXPECT_EQ(process.SaveAndRead(1, 0).state().intervals[ITIMER_REAL].value_us, 1u);
  });
}

TEST(ProcessImageTest, SignalsAreAsBeforeBehindASave) {
  InProcess([](SavedProcess& process) {
    process.SaveAndRead(1, 0);
    sigset_t now;
    sigprocmask(SIG_BLOCK, nullptr, &now);
    EXPECT_FALSE(sigismember(&now, SIGTERM));
  });
}

// A writer that was forgotten is a child for which the second image is refused.
TEST(ProcessImageTest, WriterIsAwaitedThoughSignalsInterrupt) {
  InProcess([](SavedProcess& process) {
    const FilledPages pages;     // They take longer to write than the alarms to come.
    struct sigaction action {};  // Without SA_RESTART.
    action.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
    const timeval moment{.tv_sec = 0, .tv_usec = 100};
    const itimerval timer{.it_interval = moment, .it_value = moment}, none{};
    setitimer(ITIMER_REAL, &timer, nullptr);
    for (const std::uint64_t checkpoint : {1, 2}) {
      EXPECT_EQ(process.image().Save(process.Request(checkpoint, 0)), ImageOutcome::kStarted);
    }
    setitimer(ITIMER_REAL, &none, nullptr);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(process.AwaitReport().written, 1u);
  });
}

TEST(ProcessImageTest, OpenFilesAreNotedWithTheirPositions) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/out";
    const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
    ASSERT_EQ(write(file.get(), "0123456789", 10), 10);
    ASSERT_EQ(lseek(file.get(), 4, SEEK_SET), 4);
    const UniqueFd same(dup(file.get()));
    const UniqueFd other(open(path.c_str(), O_RDONLY));
    const UniqueFd null(open("/dev/null", O_RDWR));
    const UniqueFd directory(open("/", O_RDONLY | O_DIRECTORY));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    for (const int end : ends) UniqueFd(end).Reset();
    const UniqueFd input(dup(STDIN_FILENO));
    const ReadImage image = process.SaveAndRead(1, 0);
    const ImageFile* const saved = image.FileAt(file.get());
    ASSERT_NE(saved, nullptr);
    EXPECT_EQ(saved->kind, std::uint32_t{ImageFile::kRegular});
    EXPECT_EQ(saved->position, 4u);
    EXPECT_EQ(saved->bytes, 10u);
    EXPECT_EQ(saved->mode, 0640u);
    EXPECT_TRUE(saved->open_flags & O_APPEND);
    EXPECT_EQ(saved->descriptor_flags, std::uint32_t{FD_CLOEXEC});
    EXPECT_EQ(image.String(saved->path), path);
    EXPECT_EQ(image.FileAt(same.get())->kind, std::uint32_t{ImageFile::kDuplicate});
    EXPECT_EQ(image.FileAt(same.get())->of, static_cast<std::uint32_t>(file.get()));
    EXPECT_EQ(image.FileAt(other.get())->kind, std::uint32_t{ImageFile::kRegular});
    EXPECT_EQ(image.FileAt(null.get())->kind, std::uint32_t{ImageFile::kNullDevice});
    EXPECT_EQ(image.FileAt(directory.get())->kind, std::uint32_t{ImageFile::kDirectory});
    EXPECT_EQ(image.FileAt(STDIN_FILENO)->kind, std::uint32_t{ImageFile::kStandard});
    EXPECT_EQ(image.FileAt(input.get())->kind, std::uint32_t{ImageFile::kStandard});
    EXPECT_EQ(image.FileAt(input.get())->of, std::uint32_t{STDIN_FILENO});
  });
}

TEST(ProcessImageTest, OutputThatTheProgramPutIntoAFileIsThatFile) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/log";
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT, 0600));
    ASSERT_EQ(dup2(file.get(), STDIN_FILENO), STDIN_FILENO);
    const ReadImage image = process.SaveAndRead(1, 0);
    EXPECT_EQ(image.FileAt(STDIN_FILENO)->kind, std::uint32_t{ImageFile::kRegular});
    EXPECT_EQ(image.String(image.FileAt(STDIN_FILENO)->path), path);
    EXPECT_EQ(image.FileAt(file.get())->kind, std::uint32_t{ImageFile::kDuplicate});
  });
}

TEST(ProcessImageTest, DuplicatesAreFoundWhereKcmpIsForbidden) {
  InProcess([](SavedProcess& process) {
    const auto self = static_cast<std::uint32_t>(getpid());
    Deny({.number = SYS_kcmp, .argument = 0, .value = self, .error = EPERM});
    const UniqueFd file(open("/etc/passwd", O_RDONLY));
    const UniqueFd same(dup(file.get()));
    const UniqueFd other(open("/etc/passwd", O_RDONLY));
    const ReadImage image = process.SaveAndRead(1, 0);
    EXPECT_EQ(image.FileAt(same.get())->kind, std::uint32_t{ImageFile::kDuplicate});
    EXPECT_EQ(image.FileAt(other.get())->kind, std::uint32_t{ImageFile::kRegular});
    EXPECT_EQ(fcntl(file.get(), F_GETFL) & O_APPEND, 0);
  });
}

TEST(ProcessImageTest, ThousandsOfOpenFilesAreLookedUpInASecond) {
  InProcess([](SavedProcess& process) {
    constexpr int kFiles = 4000;
    rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<UniqueFd> files;
    for (int i = 0; i < kFiles; ++i) files.emplace_back(open("/dev/null", O_RDONLY));
    if (!files.back().valid()) GTEST_SKIP() << "not as many files may be open here";
    const UniqueFd same(dup(files[kFiles / 2].get()));
    const std::uint64_t before_ns = ProcessorNs();
    const ReadImage image = process.SaveAndRead(1, 0);
    EXPECT_LT(ProcessorNs() - before_ns, 1'000'000'000u);
    EXPECT_EQ(image.FileAt(same.get())->of, static_cast<std::uint32_t>(files[kFiles / 2].get()));
    EXPECT_EQ(image.FileAt(files.back().get())->kind, std::uint32_t{ImageFile::kNullDevice});
  });
}

// As that of a coroutine, with a page below it that nobody may touch.
TEST(ProcessImageTest, SavesAProcessThatRunsOnASmallStack) {
  InProcess([](SavedProcess& process) {
    constexpr std::size_t kStackBytes = 2 * kImagePageBytes;
    const MappedRegion stack = MappedRegion::Private(kImagePageBytes + kStackBytes);
    ASSERT_EQ(mprotect(stack.data(), kImagePageBytes, PROT_NONE), 0);
    // Too large for that stack; and makecontext passes integers only.
    static SavedProcess* saved;
    static ucontext_t here, there;
    static ImageRequest request;
    static ImageOutcome outcome;
    saved = &process;
    request = process.Request(1, 0);
    ASSERT_EQ(getcontext(&there), 0);
    there.uc_stack.ss_sp = stack.data() + kImagePageBytes;
    there.uc_stack.ss_size = kStackBytes;
    there.uc_link = &here;
    makecontext(
        &there, +[] { outcome = saved->image().Save(request); }, 0);
    ASSERT_EQ(swapcontext(&here, &there), 0);
    EXPECT_EQ(outcome, ImageOutcome::kStarted);
    EXPECT_EQ(process.AwaitReport().written, 1u);
  });
}

TEST(ProcessImageTest, ProcessWritesItselfIfItCanHaveNoChild) {
  InProcess([](SavedProcess& process) {
    Deny({.number = SYS_clone, .argument = 0, .value = 0, .error = EAGAIN});
    const FilledPages pages;
    mprotect(pages.at(10), kImagePageBytes, PROT_NONE);
    const ReadImage image = process.SaveAndRead(1, 0);
    EXPECT_EQ(waitpid(-1, nullptr, __WALL), -1);
    EXPECT_TRUE(image.Holds(pages.at(0), 10 * kImagePageBytes));
    ASSERT_NE(image.RegionOf(pages.at(10)), nullptr);
    EXPECT_EQ(image.RegionOf(pages.at(10))->protection, std::uint32_t{PROT_NONE});
    mprotect(pages.at(10), kImagePageBytes, PROT_READ);
    EXPECT_TRUE(image.Holds(pages.at(0), kBytes));
  });
}

TEST(ProcessImageTest, FullDiskIsReportedAndLeavesNothing) {
  InProcess([](SavedProcess& process) {
    process.SaveAndRead(1, 0);  // The texts are there.
    Deny({.number = SYS_fallocate, .argument = 1, .value = 0, .error = ENOSPC});
    const LinkImageReport report = process.Save(2, 0);
    EXPECT_EQ(report.written, 0u);
    EXPECT_STREQ(report.reason, "writing c2.p3.new: no space left on the device");
    EXPECT_FALSE(std::filesystem::exists(process.PathOf(2)));
  });
}

TEST(ProcessImageTest, FailureOfTheDiskIsReported) {
  InProcess([](SavedProcess& process) {
    process.SaveAndRead(1, 0);
    Deny({.number = SYS_pwrite64, .argument = 3, .value = 0, .error = EIO});  // The header.
    const LinkImageReport report = process.Save(2, 0);
    EXPECT_EQ(report.written, 0u);
    EXPECT_STREQ(report.reason, "writing c2.p3.new: input/output error");
    EXPECT_FALSE(std::filesystem::exists(process.PathOf(2)));
  });
}

}  // namespace
}  // namespace bspnow::runtime
