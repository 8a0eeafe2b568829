// sample_sort.cc: sorts the lines of a file as `LC_ALL=C sort` does, by regular sampling (Shi and
// Schaeffer, 1992).
//
//   bspc++ -O2 sample_sort.cc -o sample_sort
//   apt-cache search . | bsprun -n 4 ./sample_sort - > sorted
//
// Supersteps, for n bytes of text in lines of at most b bytes (a comparison counts b):
//   0  process 0 hands every process n/p bytes:                       h = n
//   1  each sorts its lines and sends p samples at equal distances:   w = n log n / p, h = p^2 b
//   2  from all samples each takes the same p - 1 splitters, and sends
//      every process the lines between two of them:                   w = p^2 b log p, h = 2 n/p
//   3  each merges the p runs that it got; process 0 collects:        w = 2 n/p log p, h = n
// In superstep 2 no process gets more than about twice its share of the lines, unless many are
// equal: equal lines go to one process.
#include <bsp.h>
#include <getopt.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "distribution.h"
#include "options.h"

namespace {

constexpr char kUsage[] =
    "usage: sample_sort [--output=FILE] [--verify] [FILE]\n"
    "Sorts the lines of FILE, or of standard input (also: -), by the value of their bytes.\n"
    "  --output=FILE  write there instead of standard output\n"
    "  --verify       compare with a sequential sort; the outcome is told on standard error\n";

using Lines = std::vector<std::string_view>;  ///< Parts of a text, without the '\n' of each.

// What the SPMD part takes from the sequential part of process 0, and gives back to it.
std::string input;                ///< Whole lines: empty, or '\n' is its last byte.
std::vector<std::string> output;  ///< By process; one after the other they are the sorted text.

// string_view compares bytes as unsigned values, with length: what sort does in the C locale.
Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t length = text.find('\n');
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length + 1);
  }
  return lines;
}

std::string JoinLines(Lines::const_iterator begin, Lines::const_iterator end) {
  std::string text;
  for (auto line = begin; line != end; ++line) text.append(*line).push_back('\n');
  return text;
}

std::string Concatenate(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

/// Sends `text` to process `pid`; the tag says who did.
void Send(int pid, std::string_view text) {
  const int source = bsp_pid();
  if (text.size() > INT_MAX) bsp_abort("sample_sort: %zu bytes for one process", text.size());
  bsp_send(pid, &source, text.data(), static_cast<int>(text.size()));
}

/// What the processes sent to this one in the last superstep, by pid: at most one text from each.
/// BSPlib promises no order of the messages, so it is the tag that counts.
std::vector<std::string> ReceiveBySource() {
  std::vector<std::string> texts(bsp_nprocs());
  int nbytes, source;
  for (bsp_get_tag(&nbytes, &source); nbytes >= 0; bsp_get_tag(&nbytes, &source)) {
    texts[source].resize(nbytes);
    bsp_move(texts[source].data(), nbytes);
  }
  return texts;
}

/// Process 0 cuts the input into p pieces of whole lines and about equal size.
std::string Distribute() {
  if (bsp_pid() == 0) {
    std::string_view rest = input;
    for (int pid = 0; pid < bsp_nprocs(); ++pid) {
      const std::size_t share = rest.size() / (bsp_nprocs() - pid);
      const std::size_t length = share == 0 ? rest.size() : rest.find('\n', share - 1) + 1;
      Send(pid, rest.substr(0, length));
      rest.remove_prefix(length);
    }
  }
  bsp_sync();
  return ReceiveBySource()[0];
}

/// The p - 1 lines that divide the whole text into parts of about equal size; the same on all
/// processes. Fewer if there are fewer lines. `lines` are this process's, sorted.
std::vector<std::string> ChooseSplitters(const Lines& lines) {
  const int p = bsp_nprocs(), n = static_cast<int>(lines.size());
  Lines mine;
  for (int i = 0; i < std::min(n, p); ++i) mine.push_back(lines[BlockBegin(n, std::min(n, p), i)]);
  const std::string text = JoinLines(mine.begin(), mine.end());
  for (int pid = 0; pid < p; ++pid) Send(pid, text);
  bsp_sync();

  const std::string all_samples = Concatenate(ReceiveBySource());
  Lines samples = SplitLines(all_samples);
  std::sort(samples.begin(), samples.end());
  std::vector<std::string> splitters;
  for (int i = 1; i < p && !samples.empty(); ++i)
    splitters.emplace_back(samples[BlockBegin(static_cast<int>(samples.size()), p, i)]);
  return splitters;
}

/// Every process gets, from each, the lines before its splitter that are not before the last.
std::vector<std::string> ExchangeRuns(const Lines& lines) {
  const std::vector<std::string> splitters = ChooseSplitters(lines);
  auto begin = lines.begin();
  for (int pid = 0; pid < bsp_nprocs(); ++pid) {
    const bool is_last = static_cast<std::size_t>(pid) >= splitters.size();
    const auto end = is_last ? lines.end() : std::lower_bound(begin, lines.end(), splitters[pid]);
    Send(pid, JoinLines(begin, end));
    begin = end;
  }
  bsp_sync();
  return ReceiveBySource();
}

/// Merges sorted runs, neighbours first, so that each line is moved log p times only.
std::string MergeRuns(const std::vector<std::string>& runs) {
  Lines lines;
  std::vector<std::size_t> bounds = {0};
  for (const std::string& run : runs) {
    const Lines more = SplitLines(run);
    lines.insert(lines.end(), more.begin(), more.end());
    bounds.push_back(lines.size());
  }
  for (std::size_t step = 1; step < runs.size(); step *= 2) {
    for (std::size_t i = 0; i + step < runs.size(); i += 2 * step) {
      const std::size_t end = std::min(i + 2 * step, runs.size());
      std::inplace_merge(lines.begin() + bounds[i], lines.begin() + bounds[i + step],
                         lines.begin() + bounds[end]);
    }
  }
  return JoinLines(lines.begin(), lines.end());
}

void Spmd() {
  bsp_begin(bsp_nprocs());
  int tag_nbytes = sizeof(int);
  bsp_set_tagsize(&tag_nbytes);
  bsp_sync();

  const std::string text = Distribute();
  Lines lines = SplitLines(text);
  std::sort(lines.begin(), lines.end());
  Send(0, MergeRuns(ExchangeRuns(lines)));
  bsp_sync();
  if (bsp_pid() == 0) output = ReceiveBySource();
  bsp_end();
}

/// The whole file; "-" is standard input. A '\n' is added where the last line has none.
std::string ReadText(const char* path) {
  const bool is_stdin = std::string_view(path) == "-";
  std::FILE* file = is_stdin ? stdin : std::fopen(path, "rb");
  if (file == nullptr) err(kExitFailed, "%s", path);
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const std::size_t nread = std::fread(buffer.data(), 1, buffer.size(), file))
    text.append(buffer.data(), nread);
  if (std::ferror(file)) err(kExitFailed, "%s", path);
  if (!is_stdin) std::fclose(file);
  if (!text.empty() && text.back() != '\n') text.push_back('\n');
  return text;
}

void WriteText(const char* path) {
  std::FILE* file = path == nullptr ? stdout : std::fopen(path, "wb");
  if (file == nullptr) err(kExitFailed, "%s", path);
  bool is_written = true;
  for (const std::string& text : output)
    is_written &= std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!is_written || std::fflush(file) != 0)
    err(kExitFailed, "%s", path == nullptr ? "standard output" : path);
  if (path != nullptr && std::fclose(file) != 0) err(kExitFailed, "%s", path);
}

int Verify() {
  Lines lines = SplitLines(input);
  std::stable_sort(lines.begin(), lines.end());
  if (JoinLines(lines.begin(), lines.end()) != Concatenate(output))
    errx(kExitFailed, "verification failed: a sequential sort of %zu lines differs", lines.size());
  std::size_t largest = 0;
  for (const std::string& text : output) largest = std::max(largest, text.size());
  const double share = input.empty() ? 1.0 : 1.0 * output.size() * largest / input.size();
  std::fprintf(stderr, "verified: %zu lines as by a sequential sort; largest part %.2f n/p\n",
               lines.size(), share);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  static const option kOptions[] = {{"output", required_argument, nullptr, 'o'},
                                    {"verify", no_argument, nullptr, 'v'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {nullptr, 0, nullptr, 0}};
  bsp_init(Spmd, argc, argv);  // Only process 0 comes back from here; the others wait in bsp_begin.
  const char* output_path = nullptr;
  bool verify = false;
  int name;
  while ((name = getopt_long(argc, argv, "h", kOptions, nullptr)) != -1) {
    if (name == 'o')
      output_path = optarg;
    else if (name == 'v')
      verify = true;
    else
      ExitWithUsage(name, kUsage);
  }
  if (optind + 1 < argc) errx(kExitUsage, "expected at most one FILE; see --help");
  input = ReadText(optind < argc ? argv[optind] : "-");

  Spmd();

  WriteText(output_path);
  return verify ? Verify() : 0;
}
