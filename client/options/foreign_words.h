// What other systems call our commands and options: Slurm, mpirun, and the shell.
#ifndef CLIENT_OPTIONS_FOREIGN_WORDS_H_
#define CLIENT_OPTIONS_FOREIGN_WORDS_H_

#include <CLI/CLI.hpp>
#include <string>

namespace bspnow::client {

/// The command or option of `app` that does what `word` does elsewhere, as it is typed; empty if
/// there is none. A word with a dash is an option's, to its "=".
std::string OurWordFor(const CLI::App& app, const std::string& word);

/// Why nothing of ours does what `word` does elsewhere, as in "it is not needed here"; else empty.
std::string WhyWithout(const std::string& word);

/// "bsp submit" or "bsprun", where that alone has an option, as it is typed; else empty.
std::string CommandWith(const std::string& option);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_FOREIGN_WORDS_H_
