#include "runtime/image/proc/image_maps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

namespace bspnow::runtime {
namespace {

/// A line of /proc/self/maps.
struct MapsLine {
  Mapping mapping;
  bool shared;
  TextPiece path;
};

bool StartsMapping(const TextPiece& line) {
  const char c = line.bytes == 0 ? ' ' : *line.data;
  return IsDigit(c) || (c >= 'a' && c <= 'f');
}

AddressRange TakeRange(TextPiece& line) {
  AddressRange range;
  range.start = TakeNumber(line, 16);
  line.Skip('-');
  range.end = TakeNumber(line, 16);
  line.Word();
  return range;
}

std::uint32_t Protection(const TextPiece& permissions) {
  return (permissions.data[0] == 'r' ? PROT_READ : 0u) |
         (permissions.data[1] == 'w' ? PROT_WRITE : 0u) |
         (permissions.data[2] == 'x' ? PROT_EXEC : 0u);
}

// 7f12c0000000-7f12c0021000 rw-p 00000000 fe:00 1234     PATH
MapsLine Parse(TextPiece line) {
  MapsLine parsed{};
  Mapping& mapping = parsed.mapping;
  const AddressRange range = TakeRange(line);
  mapping.region.start = range.start;
  mapping.region.end = range.end;
  mapping.resident = 1;  // As far as we know.
  const TextPiece permissions = line.Word();
  mapping.region.protection = Protection(permissions);
  parsed.shared = permissions.data[3] == 's';
  mapping.file_offset = TakeNumber(line, 16);
  line.Word();
  mapping.device = TakeNumber(line, 16) << 32;
  line.Skip(':');
  mapping.device |= TakeNumber(line, 16);
  line.Word();
  mapping.inode = TakeNumber(line, 10);
  line.Word();
  parsed.path = line;
  return parsed;
}

/// The kernel's own pages; a new process has its own.
bool IsKernels(const TextPiece& path) {
  return path.StartsWith("[vvar") || path.Is("[vsyscall]") || path.Is("[uprobes]");
}

AddressRange SegmentRange(const ImageRequest& request) {
  const auto start = reinterpret_cast<std::uint64_t>(request.segment);
  const std::uint64_t page = kImagePageBytes - 1;
  return {start, (start + request.segment_bytes + page) & ~page};
}

bool Refuse(const char* why, const ImageRegion& region, TextPiece path, Reason& reason) {
  reason << why << " at " << Hex{region.start} << "-" << Hex{region.end};
  if (path.bytes > 0) reason << " (" << path << ")";
  return false;
}

/// In /proc/self/maps a line's end within a path is \012, and a backslash is itself.
bool IsWrittenAs(const TextPiece& line, const char* path) {
  constexpr char kLineEnd[] = "\\012";
  TextPiece rest = line;
  for (; *path != '\0'; ++path) {
    if (*path == '\n' && rest.StartsWith(kLineEnd)) {
      rest.Cut(sizeof kLineEnd - 1);
    } else if (*path != '\n' && rest.bytes > 0 && *rest.data == *path) {
      rest.Cut(1);
    } else {
      return false;
    }
  }
  return rest.bytes == 0;
}

/// Through a descriptor that this process has now.
bool MayWriteFile(const TextPiece& path, const ImageWork& work) {
  return std::any_of(work.files.begin(), work.files.end(), [&](const ImageFile& file) {
    return file.kind == ImageFile::kRegular && (file.open_flags & O_PATH) == 0 &&
           (file.open_flags & O_ACCMODE) != O_RDONLY &&
           IsWrittenAs(path, work.StringAt(file.path).data);
  });
}

const char* WhyNot(const MapsLine& line, const ImageWork& work) {
  const TextPiece& path = line.path;
  const bool of_file = path.StartsWith("/") && !path.EndsWith(" (deleted)");
  // What is mapped only to be read (tables of libc, say) is as good as private, unless it changes.
  const bool written = (line.mapping.region.protection & PROT_WRITE) != 0;
  if (line.shared && (written || !of_file)) return "memory shared with others";
  if (line.shared && MayWriteFile(path, work))
    return "memory mapped shared from a file that is open for writing";
  if (path.StartsWith("/dev/") && !path.StartsWith("/dev/shm/") && !path.Is("/dev/zero")) {
    return "memory of a device";
  }
  return nullptr;
}

/// Adds what of the mapping lies outside of all `cuts`.
void AddCut(const Mapping& mapping, const AddressRange* cuts, std::size_t count, ImageWork& work) {
  const ImageRegion& region = mapping.region;
  if (region.start >= region.end) return;
  if (count == 0) {
    work.mappings.Add(mapping);
    return;
  }
  if (cuts->end <= region.start || cuts->start >= region.end) {
    AddCut(mapping, cuts + 1, count - 1, work);
    return;
  }
  Mapping below = mapping;
  below.region.end = std::max(cuts->start, region.start);
  AddCut(below, cuts + 1, count - 1, work);
  Mapping above = mapping;
  above.region.start = std::min(cuts->end, region.end);
  above.file_offset += above.region.start - region.start;
  AddCut(above, cuts + 1, count - 1, work);
}

bool AddLine(MapsLine& line, ImageWork& work) {
  const AddressRange cuts[] = {work.mapping, SegmentRange(work.request)};
  Mapping& mapping = line.mapping;
  ImageRegion& region = mapping.region;
  if (IsKernels(line.path)) return true;
  for (const AddressRange& cut : cuts)
    if (region.start >= cut.start && region.end <= cut.end) return true;
  if (const char* why = WhyNot(line, work)) return Refuse(why, region, line.path, work.reason);
  if (line.path.Is("[stack]")) region.flags |= ImageRegion::kStack;
  if (line.path.Is("[vdso]")) {
    region.flags |= ImageRegion::kVdso;
    work.state.vdso_start = region.start;
    work.state.vdso_bytes = region.end - region.start;
    mapping.kind = Mapping::kFile;
  } else if (mapping.inode != 0 && !line.path.Is("/dev/zero")) {
    mapping.kind = Mapping::kFile;
    mapping.path = work.AddString(line.path);
  }
  AddCut(mapping, cuts, 2, work);
  return true;
}

/// One entry of /proc/self/smaps.
struct Details {
  AddressRange range;
  std::uint32_t resident;
  std::uint32_t flags;  ///< ImageRegion::Flag.
  const char* why_not;
};

// VmFlags: rd wr mr mw me ac
void ParseFlags(TextPiece line, Details& details) {
  struct Meaning {
    const char* name;
    std::uint32_t flag;
    const char* why_not;
  };
  constexpr Meaning kMeanings[] = {
      {"gd", ImageRegion::kStack, nullptr},      {"nr", ImageRegion::kNoReserve, nullptr},
      {"hg", ImageRegion::kHugePages, nullptr},  {"dd", ImageRegion::kDontDump, nullptr},
      {"wf", ImageRegion::kWipeOnFork, nullptr}, {"dp", ImageRegion::kDroppable, nullptr},
      {"ht", 0, "memory of huge pages"},         {"io", 0, "memory of a device"},
      {"pf", 0, "memory of a device"},           {"ss", 0, "a shadow stack"},
  };
  bool shared = false;
  bool may_write = false;
  while (line.bytes > 0) {
    const TextPiece word = line.Word();
    for (const Meaning& meaning : kMeanings) {
      if (!word.Is(meaning.name)) continue;
      details.flags |= meaning.flag;
      if (meaning.why_not != nullptr) details.why_not = meaning.why_not;
    }
    if (word.Is("sh")) shared = true;
    if (word.Is("mw")) may_write = true;
  }
  constexpr std::uint32_t kWiped = ImageRegion::kWipeOnFork;
  if ((details.flags & (kWiped | ImageRegion::kDroppable)) == kWiped)
    details.why_not = "memory that children find empty (MADV_WIPEONFORK)";
  if (shared && may_write) details.why_not = "memory shared with others";
}

/// Gives the details to the mappings inside their range; `next` is the first that has none yet.
bool AddDetails(const Details& details, std::size_t& next, ImageWork& work) {
  for (; next < work.mappings.size(); ++next) {
    Mapping& mapping = work.mappings[next];
    ImageRegion& region = mapping.region;
    if (region.start >= details.range.end) return true;
    const TextPiece path = work.StringAt(mapping.path);
    if (region.start < details.range.start) {
      return Refuse("memory that children do not inherit (MADV_DONTFORK)", region, path,
                    work.reason);
    }
    if ((region.flags & ImageRegion::kVdso) != 0) continue;
    if (details.why_not != nullptr) return Refuse(details.why_not, region, path, work.reason);
    region.flags |= details.flags;
    mapping.resident = details.resident;
  }
  return true;
}

}  // namespace

bool ReadMappings(ImageWork& work) {
  LineReader lines("/proc/self/maps", work.text_buffer, work.text_buffer_bytes);
  TextPiece text;
  while (lines.Next(text)) {
    MapsLine line = Parse(text);
    if (!AddLine(line, work)) return false;
  }
  if (work.mappings.size() > 0) return true;
  work.reason << "cannot read /proc/self/maps";
  return false;
}

bool ReadMappingDetails(ImageWork& work) {
  LineReader lines("/proc/self/smaps", work.text_buffer, work.text_buffer_bytes);
  Details details{};
  std::size_t next = 0;
  TextPiece line;
  while (lines.Next(line)) {
    if (StartsMapping(line)) {
      details = {.range = TakeRange(line), .resident = 0, .flags = 0, .why_not = nullptr};
      continue;
    }
    const TextPiece key = line.Word();
    if (key.Is("Rss") || key.Is("Swap")) {
      if (TakeNumber(line, 10) > 0) details.resident = 1;
    } else if (key.Is("VmFlags")) {
      ParseFlags(line, details);
      if (!AddDetails(details, next, work)) return false;
    }
  }
  if (next == work.mappings.size()) return true;
  work.reason << "cannot read /proc/self/smaps";
  return false;
}

}  // namespace bspnow::runtime
