#include "worker/checkpoint/cpu_features.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <cpuid.h>

#include <fstream>
#include <set>
#include <utility>

namespace bspnow::worker {
namespace {

// The flags that name instructions a compiler, libc or numerical library may have chosen. The rest
// of the line is the kernel's business, or a promise of speed (erms, fsrm). All avx512* and amx*
// count, too.
constexpr std::string_view kOfCode =
    " abm adx aes avx avx2 avx_ifma avx_ne_convert avx_vnni avx_vnni_int8 bmi1 bmi2 cldemote"
    " clflushopt clwb cmpccxadd cx16 f16c fma fma4 fsgsbase gfni lahf_lm mmx movbe movdir64b"
    " movdiri pclmulqdq popcnt raoint rdpid rdrand rdseed rdtscp rtm serialize sha512 sha_ni sse"
    " sse2 sse4_1 sse4_2 sse4a ssse3 tbm tsc vaes vpclmulqdq waitpkg xop xsave xsavec ";

/// A component of XCR0 that holds registers of code, and the first feature that has them.
struct RegisterState {
  int number;
  const char* name;
  const char* feature;
};
constexpr RegisterState kStates[] = {{1, "sse", "sse"},           {2, "avx", "avx"},
                                     {5, "opmask", "avx512f"},    {6, "zmm_hi256", "avx512f"},
                                     {7, "hi16_zmm", "avx512f"},  {17, "tilecfg", "amx_tile"},
                                     {18, "tiledata", "amx_tile"}};

/// What glibc chooses by, as Linux and as glibc call it.
constexpr std::pair<const char*, const char*> kOfGlibc[] = {
    {"abm", "LZCNT"},         {"avx", "AVX"},           {"avx2", "AVX2"},
    {"avx512bw", "AVX512BW"}, {"avx512cd", "AVX512CD"}, {"avx512dq", "AVX512DQ"},
    {"avx512er", "AVX512ER"}, {"avx512f", "AVX512F"},   {"avx512pf", "AVX512PF"},
    {"avx512vl", "AVX512VL"}, {"bmi1", "BMI1"},         {"bmi2", "BMI2"},
    {"fma", "FMA"},           {"fma4", "FMA4"},         {"movbe", "MOVBE"},
    {"popcnt", "POPCNT"},     {"rtm", "RTM"},           {"sse4_1", "SSE4_1"},
    {"sse4_2", "SSE4_2"},     {"ssse3", "SSSE3"},       {"xsave", "XSAVE"},
    {"xsavec", "XSAVEC"}};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool IsOfCode(std::string_view name) {
  if (StartsWith(name, "avx512") || StartsWith(name, "amx_")) return true;
  return kOfCode.find(absl::StrCat(" ", std::string(name), " ")) != std::string_view::npos;
}

std::set<std::string> Names(const std::string& names) {
  return absl::StrSplit(names, ' ', absl::SkipEmpty());
}

std::uint64_t Xcr0() {
  unsigned a, b, c = 0, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

CpuFeatures PresentCpuFeatures() {
  CpuFeatures present;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!StartsWith(line, "flags")) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) present.names = line.substr(colon + 1);
    break;
  }
  present.xcr0 = Xcr0();
  return present;
}

std::vector<std::string> MissingCpuFeatures(const CpuFeatures& needed, const CpuFeatures& present) {
  std::vector<std::string> missing;
  const std::set<std::string> here = Names(present.names);
  for (const std::string& name : Names(needed.names)) {
    if (IsOfCode(name) && here.count(name) == 0) missing.push_back(name);
  }
  for (const RegisterState& state : kStates) {
    const std::uint64_t bit = std::uint64_t{1} << state.number;
    if ((needed.xcr0 & bit) != 0 && (present.xcr0 & bit) == 0) {
      missing.push_back(absl::StrCat("xcr0:", state.name));
    }
  }
  return missing;
}

CpuFeatures LimitedTo(const std::vector<std::string>& allowed, const CpuFeatures& present) {
  if (allowed.empty()) return present;
  const std::set<std::string> kept(allowed.begin(), allowed.end());
  CpuFeatures limited{.names = {}, .xcr0 = present.xcr0};
  for (const std::string& name : Names(present.names)) {
    if (kept.contains(name)) absl::StrAppend(&limited.names, name, " ");
  }
  for (const RegisterState& state : kStates) {
    if (!kept.contains(state.feature)) limited.xcr0 &= ~(std::uint64_t{1} << state.number);
  }
  return limited;
}

std::string TunablesFor(const std::vector<std::string>& allowed, const CpuFeatures& present) {
  if (allowed.empty()) return {};
  const std::set<std::string> kept(allowed.begin(), allowed.end());
  const std::set<std::string> here = Names(present.names);
  std::vector<std::string> off;
  for (const auto& [name, of_glibc] : kOfGlibc) {
    if (here.contains(name) && !kept.contains(name)) off.push_back(absl::StrCat("-", of_glibc));
  }
  return off.empty() ? "" : absl::StrCat("glibc.cpu.hwcaps=", absl::StrJoin(off, ","));
}

}  // namespace bspnow::worker
