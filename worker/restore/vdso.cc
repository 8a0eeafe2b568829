#include "worker/restore/vdso.h"

#include <elf.h>

#include "base/freestanding/raw_call.h"
#include "base/freestanding/text.h"
#include "worker/restore/failure.h"

namespace bspnow::worker::restore {
namespace {

constexpr std::uint64_t kSymbolsMax = 64;
constexpr std::size_t kJumpBytes = 12;

/// The dynamic symbols of a vdso, which is an ELF file in memory.
struct Symbols {
  std::uint64_t base = 0;
  Table<Elf64_Sym> table;
  const char* names = nullptr;
  std::uint64_t names_bytes = 0;

  bool IsFunction(const Elf64_Sym& symbol) const {
    return symbol.st_value != 0 && symbol.st_name < names_bytes &&
           ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
  }
  const char* Name(const Elf64_Sym& symbol) const { return names + symbol.st_name; }
};

// The linker script of every x86-64 vdso puts .dynstr after .dynsym, so their distance gives the
// number of symbols; nothing else does without walking a hash table.
Symbols FindSymbols(const Range& range) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(range.start);
  const std::uint64_t room = range.bytes();
  Symbols symbols;
  symbols.base = range.start;
  if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return symbols;
  if (header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > room) return symbols;
  const auto* segment = reinterpret_cast<const Elf64_Phdr*>(range.start + header->e_phoff);
  std::uint64_t table = 0;
  std::uint64_t names = 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segment[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const Elf64_Dyn*>(range.start + segment[i].p_offset);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) table = entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRSZ) symbols.names_bytes = entry->d_un.d_val;
    }
  }
  if (table == 0 || names <= table || names + symbols.names_bytes > room) return symbols;
  const std::uint64_t count = (names - table) / sizeof(Elf64_Sym);
  symbols.names = reinterpret_cast<const char*>(range.start + names);
  symbols.table = {reinterpret_cast<const Elf64_Sym*>(range.start + table),
                   count < kSymbolsMax ? count : kSymbolsMax};
  return symbols;
}

/// The system call that does what a function of this name does; -1: none does.
int CallNumber(const char* name) {
  if (TextPiece{name, Length(name)}.StartsWith("__vdso_")) name += Length("__vdso_");
  if (Equal(name, "clock_gettime")) return SYS_clock_gettime;
  if (Equal(name, "gettimeofday")) return SYS_gettimeofday;
  if (Equal(name, "time")) return SYS_time;
  if (Equal(name, "getcpu")) return SYS_getcpu;
  if (Equal(name, "clock_getres")) return SYS_clock_getres;
  if (Equal(name, "getrandom")) return 318;  // Younger than Debian 12's headers on some machines.
  return -1;
}

std::uint64_t PresentAddress(const Symbols& present, const char* name) {
  for (const Elf64_Sym& symbol : present.table) {
    if (present.IsFunction(symbol) && Equal(present.Name(symbol), name)) {
      return present.base + symbol.st_value;
    }
  }
  return 0;
}

void PutJump(std::byte* code, std::uint64_t target) {
  const unsigned char before[2] = {0x48, 0xb8};  // movabs $target, %rax
  const unsigned char after[2] = {0xff, 0xe0};   // jmp *%rax
  __builtin_memcpy(code, before, 2);
  __builtin_memcpy(code + 2, &target, 8);
  __builtin_memcpy(code + 10, after, 2);
}

void PutCall(std::byte* code, int number) {
  const unsigned char load = 0xb8;                   // mov $number, %eax
  const unsigned char call[3] = {0x0f, 0x05, 0xc3};  // syscall; ret
  __builtin_memcpy(code, &load, 1);
  __builtin_memcpy(code + 1, &number, 4);
  __builtin_memcpy(code + 5, call, 3);
}

}  // namespace

void PatchVdso(const ImageState& state, const Range& present) {
  if (state.vdso_start == 0) return;
  const Symbols old = FindSymbols({state.vdso_start, state.vdso_start + state.vdso_bytes});
  const Symbols now = present.bytes() == 0 ? Symbols{} : FindSymbols(present);
  if (old.table.count == 0) Fail("the image's vdso has no symbols");
  for (const Elf64_Sym& symbol : old.table) {
    if (!old.IsFunction(symbol)) continue;
    const char* name = old.Name(symbol);
    const int number = CallNumber(name);
    const std::uint64_t target = PresentAddress(now, name);
    if (number < 0 && target == 0) continue;  // An enclave's, which no image survives.
    if (symbol.st_size < kJumpBytes || symbol.st_value + kJumpBytes > state.vdso_bytes) {
      Fail("the image's vdso has no room for a jump in ", name);
    }
    auto* const code = reinterpret_cast<std::byte*>(old.base + symbol.st_value);
    if (target == 0 || number == 318) {
      PutCall(code, number);
    } else {
      PutJump(code, target);
    }
  }
}

}  // namespace bspnow::worker::restore
