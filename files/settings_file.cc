#include "files/settings_file.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <vector>

namespace bspnow::files {
namespace {

// CLI11's, of an unknown name; that of a section ends in two plus signs.
constexpr char kNotParsed[] = "INI was not able to parse ";
constexpr char kSectionEnd[] = ".++";
constexpr char kTwice[] = ": At Most 1 required but received ";  // CLI11's, and how many.
constexpr char kNoSize[] = " unit not recognized.";  // CLI11's, with a list of all that there are.

// "listen" of "--listen is required", "Could not convert: --listen = x" and "--listen: ...".
std::string NameIn(const std::string& what) {
  const std::size_t begin = what.find("--");
  if (begin == std::string::npos) return "";
  return what.substr(begin + 2, what.find_first_of(" :=", begin) - begin - 2);
}

bool IsGiven(const std::string& name, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
  }
  return false;
}

// 0: there is no line of that name.
int LineOf(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string key = line.substr(0, line.find('='));
    const std::size_t begin = key.find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    if (key.substr(begin, key.find_last_not_of(" \t\r") + 1 - begin) == name) return number;
  }
  return 0;
}

// CLI11 looks for what is missing first, and a misspelt option leaves its own missing.
std::string UnknownOption(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (word.starts_with('-')) return "unknown option " + word;
  }
  return "";
}

// CLI11 takes a quote that is not closed for part of the value, and ends it at a #.
void CheckString(const std::string& line) {
  const std::size_t equals = line.find('=');
  const std::size_t name = line.find_first_not_of(" \t");
  if (equals == std::string::npos || name == equals || line[name] == '#' || line[name] == ';')
    return;
  const std::size_t begin = line.find_first_not_of(" \t", equals + 1);
  if (begin == std::string::npos || (line[begin] != '"' && line[begin] != '\'')) return;
  const std::size_t end = line.find(line[begin], begin + 1);
  const bool is_long = end != std::string::npos && line.find(line[begin], end + 1) == end + 1;
  if (end != std::string::npos && end < line.find('#', begin) && !is_long) return;
  const std::size_t name_end = line.find_last_not_of(" \t", equals - 1);
  throw CLI::ValidationError(absl::StrCat("--", line.substr(name, name_end + 1 - name)),
                             "a string ends on its line, with the quote with which it begins, and "
                             "has no #");
}

class SettingsFormat final : public CLI::ConfigBase {
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::istringstream text(std::string(std::istreambuf_iterator<char>(input), {}));
    for (std::string line; std::getline(text, line);) CheckString(line);
    text.clear();
    text.seekg(0);
    return ConfigBase::from_config(text);
  }
};

}  // namespace

void AddSettingsFile(CLI::App& app) {
  app.config_formatter(std::make_shared<SettingsFormat>());
  app.set_config("--config", "", "Read settings from FILE: lines NAME = VALUE")->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
}

std::string SettingsComplaint(const CLI::App& app, const CLI::ParseError& error, int argc,
                              const char* const* argv) {
  std::string what = error.what();
  std::string name = NameIn(what);
  if (const std::string unknown = UnknownOption(app); !unknown.empty()) {
    what = unknown;
    name.clear();
  } else if (what.starts_with(kNotParsed)) {
    name = std::string(absl::StripPrefix(what, kNotParsed));
    what = "there is no setting " + name;
    if (name.ends_with(kSectionEnd)) {
      name = absl::StrCat("[", absl::StripSuffix(name, kSectionEnd), "]");
      what = absl::StrCat("settings have no sections; take out ", name);
    }
  } else if (const std::size_t twice = what.find(kTwice); twice != std::string::npos) {
    what = absl::StrCat(what.substr(0, twice), " has ", what.substr(twice + sizeof kTwice - 1),
                        " values; give one, in quotes if it has blanks");
  } else if (const std::size_t size = what.find(kNoSize); size != std::string::npos) {
    what = what.substr(0, size) + " is no unit of a size; write it as in 500M, 4G or 1T";
  } else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::FileError)) {
    what = "--config: cannot read " + what.substr(0, what.find(" was not readable"));
  }
  std::string place;
  const CLI::Option* const config = app.get_config_ptr();
  if (config != nullptr && config->count() > 0 && !IsGiven(name, argc, argv)) {
    const std::string path = config->results().back();
    if (const int line = LineOf(path, name); line > 0) place = absl::StrCat(path, ":", line, ": ");
  }
  return absl::StrCat(app.get_name(), ": ", place, what, "; see ", app.get_name(), " --help");
}

}  // namespace bspnow::files
