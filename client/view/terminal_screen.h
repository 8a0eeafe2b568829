// A terminal taken over for a while: another screen, keys as they are pressed; then given back.
#ifndef CLIENT_VIEW_TERMINAL_SCREEN_H_
#define CLIENT_VIEW_TERMINAL_SCREEN_H_

#include <termios.h>

#include <string>

namespace bspnow::client {

class TerminalScreen {
 public:
  /// Takes the terminal of standard input and output.
  TerminalScreen();
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  /// Shows the lines of a text, as many and as much of each as fit.
  void Draw(const std::string& text);

  /// The key that was pressed, or 0 at the end of the input.
  char ReadKey();

 private:
  termios before_{};
};

/// The first `lines` lines of a text, each cut to `columns` characters (colours count nothing).
std::string CutToSize(const std::string& text, int lines, int columns);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_TERMINAL_SCREEN_H_
