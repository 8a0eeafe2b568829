// The settings of a daemon, which stand on its command line or in the file of --config.
#ifndef FILES_SETTINGS_FILE_H_
#define FILES_SETTINGS_FILE_H_

#include <CLI/CLI.hpp>
#include <string>

namespace bspnow::files {

/// Takes --config FILE, with lines NAME = VALUE; a name that is no option is an error.
void AddSettingsFile(CLI::App& app);

/// What is wrong, in a line for people: the program, the file and the line there if that is where
/// the setting comes from, and what to do.
std::string SettingsComplaint(const CLI::App& app, const CLI::ParseError& error, int argc,
                              const char* const* argv);

}  // namespace bspnow::files

#endif  // FILES_SETTINGS_FILE_H_
