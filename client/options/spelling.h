// What a user may have meant by a word that is not known.
#ifndef CLIENT_OPTIONS_SPELLING_H_
#define CLIENT_OPTIONS_SPELLING_H_

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace bspnow::client {

/// How many letters have to be inserted, removed, replaced or swapped with their neighbour.
std::size_t EditDistance(const std::string& a, const std::string& b);

/// The first of the words that are nearest, at a distance of 2 at most; empty if there is none.
std::string NearestWord(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean --nodes?" if `word`, unknown to `app`, is nearly one of its options, or of its
/// commands if it does not begin with a dash, or is what these are called elsewhere; of what is
/// known elsewhere alone "; it is not needed here", or why else there is none; else nothing.
std::string DidYouMean(const CLI::App& app, const std::string& word);

/// The error of `mpirun -n 2 a : -n 2 b`, whose ":" a lone program would get as its argument; empty
/// if `command` has none with an option of `app` after it.
std::string SecondProgram(const CLI::App& app, const std::vector<std::string>& command);

/// What to add to a complaint if an option of `app` is among the arguments of a program, `command`
/// being PROGRAM ARGS...; else nothing. There it may well be the program's own, so nobody is to be
/// told unless something is wrong.
std::string MisplacedOption(const CLI::App& app, const std::vector<std::string>& command);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_SPELLING_H_
