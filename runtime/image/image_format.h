// The file that holds the image of one BSP process, or of the areas that it registered for
// checkpoints; written by the process (runtime/), checked by its worker, and put back by
// bsp-restore (worker/restore). See "Checkpoints" in docs/design.md.
//
// All images of one job on one node lie in one directory:
//
//   c<CHECKPOINT>.p<PID>        an image; while it is written, with `.new` at its end
//   c<CHECKPOINT>.files.p<PID>  the files of the job's directory; PID is the lowest of the node
//   text-<HASH>                 read-only bytes of a program or library, shared by all images;
//                               HASH: 32 hexadecimal digits, XXH3 with 128 bits, of the content
//
// An image, in this order, everything little-endian and at multiples of 8, data at multiples of
// kImagePageBytes:
//
//   ImageHeader                    4096 bytes; written last
//   ImageRegion[regions]           the whole address space but what is rebuilt, ascending
//   ImageText[texts]
//   ImageFile[files]
//   ImageState                     if kind is kProcess
//   ImageArea[areas]               if kind is kAreas
//   ImageRun[runs]                 ascending by address
//   strings                        file names and reasons, each ends with 0
//   data of the runs (or areas), in their order, each a multiple of kImagePageBytes
//   ImageChunk[chunks]             checksums of the file from its byte 4096 to `chunks_offset`, cut
//                                  into pieces of kImageChunkBytes; the last may be shorter
//
// An image with a base holds only the runs that changed since; tables are always whole. To put a
// process back, take the regions of the newest image, then the runs of all images from the oldest
// (base 0) to the newest, cut to the regions; later runs win.
#ifndef RUNTIME_IMAGE_IMAGE_FORMAT_H_
#define RUNTIME_IMAGE_IMAGE_FORMAT_H_

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

namespace bspnow {

inline constexpr std::uint64_t kImageMagic = 0x4547414d49505342;     // "BSPIMAGE"
inline constexpr std::uint64_t kImageComplete = 0x4554454c504d4f43;  // "COMPLETE"
inline constexpr std::uint32_t kImageVersion = 3;
inline constexpr std::size_t kImagePageBytes = 4096;
inline constexpr std::size_t kImageChunkBytes = std::size_t{1} << 20;
inline constexpr std::size_t kSignalsMax = 64;
inline constexpr std::size_t kLimitsMax = 16;
inline constexpr std::size_t kProcessorsMax = 8192;

/// What a reader takes at most of what lies before the data, and of checksums: more than a writer
/// has room for (image_work.cc). A sparse file may be of any size.
inline constexpr std::uint64_t kImageTablesBytesMax = std::uint64_t{768} << 20;
inline constexpr std::uint64_t kImageChunksMax = std::uint64_t{1} << 21;

enum class ImageKind : std::uint32_t {
  kProcess = 1,  ///< The whole process.
  kAreas = 2,    ///< What it gave to bsp_checkpoint_register.
};

/// A table or piece of the file.
struct ImageTable {
  std::uint64_t offset;  ///< From the start of the file.
  std::uint64_t count;   ///< Entries; bytes, where it is strings or data.
};

struct ImageHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t kind;      ///< ImageKind.
  std::uint64_t complete;  ///< kImageComplete; anything else: the writer died.
  std::uint64_t job;
  std::uint64_t checkpoint;
  std::uint64_t base;       ///< The checkpoint whose image is needed, too; 0: none.
  std::uint64_t superstep;  ///< That begins when bsp_sync returns, as it is shown (from the start).
  std::uint32_t pid;
  std::uint32_t nprocs;        ///< p, as bsp_begin fixed it.
  std::uint64_t elapsed_ns;    ///< Since bsp_begin, and
  std::uint64_t processor_ns;  ///< used by the process: its clocks, for one that gets areas back.
  std::uint64_t file_bytes;
  ImageTable regions;
  ImageTable texts;
  ImageTable files;
  ImageTable state;  ///< One entry.
  ImageTable areas;
  ImageTable runs;
  ImageTable strings;
  ImageTable data;
  ImageTable chunks;
  std::uint64_t header_hash;  ///< XXH3, 64 bits, of this struct with this field 0.
};
static_assert(sizeof(ImageHeader) <= kImagePageBytes);

/// One range of the address space with one protection.
struct ImageRegion {
  enum Flag : std::uint32_t {
    kStack = 1,  ///< Grows down: MAP_GROWSDOWN and the full limit, see bsp-restore.
    kVdso = 2,   ///< The program's vdso: its pages are data; calls go to the present one.
    kNoReserve = 4,
    kText = 8,        ///< Bytes come from texts[text], from text_offset; none of them changed.
    kHugePages = 16,  ///< madvise(MADV_HUGEPAGE).
    kDontFork = 32,
    kDontDump = 64,
    kWipeOnFork = 128,
    kLocked = 256,
    kDroppable = 512,  ///< MAP_DROPPABLE: the kernel may clear it at any time, and its owner knows.
  };
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t protection;  ///< PROT_*.
  std::uint32_t flags;
  std::uint32_t text;
  std::uint32_t reserved;
  std::uint64_t text_offset;
};

/// Content that lies in a file of its own, text-<HASH>.
struct ImageText {
  std::uint64_t hash_high;
  std::uint64_t hash_low;
  std::uint64_t bytes;
  std::uint64_t name;  ///< Offset of the path in strings, for messages.
};

/// Which of its own pipes a worker has given as standard output and standard error: a shell or the
/// program may have put either in the other's place. A mode says nothing else of a pipe, is seen
/// through each of its descriptors, and needs nobody to be asked.
inline constexpr std::uint32_t kOutputPipeMode = S_IRUSR | S_IWUSR | S_ISVTX;
inline constexpr std::uint32_t kErrorPipeMode = kOutputPipeMode | S_IXUSR;

/// An open file or directory, at the same number again.
struct ImageFile {
  enum Kind : std::uint32_t {
    kRegular = 1,
    kDirectory = 2,
    kNullDevice = 3,  ///< /dev/null, /dev/zero, /dev/random...: opened anew by its path.
    kDuplicate = 4,   ///< Shares the open file of descriptor `of`.
    kStandard = 5,    ///< What the worker gave as `of`, one of 0 to 2.
  };
  std::uint32_t descriptor;
  std::uint32_t kind;
  std::uint32_t open_flags;        ///< As F_GETFL has them.
  std::uint32_t descriptor_flags;  ///< FD_CLOEXEC.
  std::uint64_t position;
  std::uint64_t bytes;  ///< Of the file, with what others have appended since the barrier.
  std::uint32_t of;
  std::uint32_t mode;  ///< Permission bits.
  std::uint64_t path;  ///< Offset in strings; absolute.
};

/// What the kernel calls sigaction in its own words (x86-64).
struct ImageSignal {
  std::uint64_t handler;
  std::uint64_t flags;
  std::uint64_t restorer;
  std::uint64_t mask;
};

/// Registers that a call preserves, and where to go on.
struct ImageRegisters {
  std::uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
  std::uint32_t mxcsr;
  std::uint32_t x87_control;
};

struct ImageInterval {  ///< setitimer, microseconds.
  std::uint64_t value_us;
  std::uint64_t interval_us;
};

struct ImageLimit {
  std::uint64_t soft;
  std::uint64_t hard;
};

/// Everything else of the process.
struct ImageState {
  ImageRegisters registers;
  std::uint64_t fs_base;
  std::uint64_t gs_base;
  // As prctl(PR_SET_MM_MAP) takes them.
  std::uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
  std::uint64_t arg_start, arg_end, env_start, env_end;
  std::uint64_t auxv_offset;  ///< In strings: auxv_bytes of /proc/self/auxv.
  std::uint64_t auxv_bytes;
  std::uint64_t tid_address;  ///< set_tid_address; 0: none.
  std::uint32_t os_pid;       ///< The old one, to find what it is stored in.
  std::uint32_t umask;
  std::uint64_t robust_list;
  std::uint64_t robust_list_bytes;
  std::uint64_t rseq;  ///< Address of the registered area; 0: none.
  std::uint32_t rseq_bytes;
  std::uint32_t rseq_signature;
  ImageSignal signals[kSignalsMax];
  std::uint64_t signal_mask;
  std::uint64_t alternate_stack;
  std::uint64_t alternate_stack_bytes;
  std::uint32_t alternate_stack_flags;
  std::uint32_t uses_amx;
  ImageInterval intervals[3];                     ///< ITIMER_REAL, VIRTUAL, PROF.
  ImageLimit limits[kLimitsMax];                  ///< By number of RLIMIT_*.
  std::uint64_t processors[kProcessorsMax / 64];  ///< It may use; none: those that its host may.
  std::uint32_t priority;                         ///< 20 - nice value; 0: that of its host.
  std::uint32_t no_new_privileges;
  std::uint64_t vdso_start;  ///< 0: none.
  std::uint64_t vdso_bytes;
  std::uint64_t directory;  ///< cwd; offset in strings.
  char name[16];            ///< comm.
  std::uint32_t link;       ///< The descriptor at which the process wants its new link.
  std::uint32_t reserved;
  std::uint64_t xcr0;              ///< XGETBV(0) where it was saved.
  std::uint64_t cpu_features;      ///< Offset in strings: names as in /proc/cpuinfo, by blanks.
  std::uint64_t monotonic_ns;      ///< NowNs() when it was saved.
  std::uint64_t restored_address;  ///< An std::uint32_t that bsp-restore sets to 1.
  std::uint64_t restorer_address;  ///< Two std::uint64_t: what of bsp-restore the process unmaps,
                                   ///< start and bytes.
};

struct ImageArea {
  std::uint64_t bytes;
};

/// Pages that have a value of their own.
struct ImageRun {
  enum Kind : std::uint32_t { kData = 0, kZero = 1 };
  std::uint64_t start;
  std::uint64_t bytes;
  std::uint32_t kind;  ///< kZero: they have no data in the file, and are zero.
  std::uint32_t reserved;
  std::uint64_t offset;  ///< In the file, of kData.
};

struct ImageChunk {
  std::uint64_t hash;  ///< XXH3, 64 bits.
};

}  // namespace bspnow

#endif  // RUNTIME_IMAGE_IMAGE_FORMAT_H_
