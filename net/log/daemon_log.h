// The log of a daemon: standard error, a line a fact. What is logged is "event=NAME key=value
// key=\"a text\"".
#ifndef NET_LOG_DAEMON_LOG_H_
#define NET_LOG_DAEMON_LOG_H_

#include <string>
#include <string_view>

namespace bspnow {

enum class LogFormat {
  kText,  ///< TIME level=LEVEL event=...
  kJson,  ///< An object: time (RFC 3339), level, message, and each key as a member; all texts.
};

/// "text" or "json": any other is text.
LogFormat LogFormatOf(std::string_view name);

/// `level` as spdlog names it: "debug", "info", "warning", "error". For the whole process,
/// which says there, too, why it ends if the system gives it no thread or no memory: status 1.
void SetUpLog(const std::string& program, const std::string& level, LogFormat format);

/// Text for a line of kText, whatever users have put into names and paths: control characters,
/// those that turn the direction of text, and bytes that are no UTF-8 are written as \xHH, so that
/// it neither looks like more lines nor speaks to a terminal, nor makes its line read otherwise.
std::string HarmlessLogText(std::string_view text);

/// One line of kJson, without its end: valid whatever bytes `message` has, and ASCII. Of a key that
/// occurs twice the first counts: a text that looks like more pairs replaces nothing.
std::string JsonLogLine(std::string_view time, std::string_view level, std::string_view message);

}  // namespace bspnow

#endif  // NET_LOG_DAEMON_LOG_H_
