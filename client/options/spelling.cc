#include "client/options/spelling.h"

#include <algorithm>
#include <utility>

#include "client/options/foreign_words.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kDistanceMax = 2;
constexpr std::size_t kBeginningMin = 2;  // Letters that say enough, of one word alone.

}  // namespace

std::size_t EditDistance(const std::string& a, const std::string& b) {
  // Of the first i letters of a from the first j of b: rows i - 2, i - 1 and i.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string NearestWord(const std::string& word, const std::vector<std::string>& known) {
  std::string nearest;
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (word.size() >= kBeginningMin && std::count_if(known.begin(), known.end(), begins) == 1)
    return *std::find_if(known.begin(), known.end(), begins);
  // Of a word without a common letter nobody knows what it was meant to be.
  std::size_t least = std::min(kDistanceMax + 1, word.size());
  for (const std::string& candidate : known) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string DidYouMean(const CLI::App& app, const std::string& word) {
  const auto ask = [](const std::string& meant) { return "; did you mean " + meant + "?"; };
  if (const std::string ours = OurWordFor(app, word); !ours.empty()) return ask(ours);
  if (const std::string why = WhyWithout(word); !why.empty()) return "; " + why;
  const bool is_option = word.starts_with("--");
  std::vector<std::string> known;
  if (is_option) {
    for (const CLI::Option* option : app.get_options())
      known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
  } else {
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  }
  const std::string name = is_option ? word.substr(2, word.find('=') - 2) : word;
  const std::string nearest = NearestWord(name, known);
  return nearest.empty() ? "" : ask((is_option ? "--" : "") + nearest);
}

std::string SecondProgram(const CLI::App& app, const std::vector<std::string>& command) {
  for (std::size_t i = 0; i + 1 < command.size(); ++i) {
    const std::string& next = command[i + 1];
    if (command[i] == "--") break;
    if (command[i] != ":" || !next.starts_with('-')) continue;
    const std::string name = next.substr(0, next.find('='));
    if (app.get_option_no_throw(name == "-np" ? "-n" : name) == nullptr) continue;
    return "a job has one program, and after it \": " + name +
           "\" begins none; if these are its arguments, write -- before " + command.front();
  }
  return "";
}

std::string MisplacedOption(const CLI::App& app, const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "--") break;
    if (!word.starts_with('-')) continue;
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* const ours = app.get_option_no_throw(name == "-np" ? "-n" : name);
    const bool asks = name == "-h" || name == "--help" || name == "--version";
    if (ours != nullptr && ours->count() == 0 && !asks)
      return "; " + name + " stands after the program, and so is an argument of it: write " + name +
             " before " + command.front();
  }
  return "";
}

}  // namespace bspnow::client
