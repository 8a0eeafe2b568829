#include "net/log/daemon_log.h"

#include <absl/strings/str_format.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/bidi_control.h"
#include "net/log/unblocked_sink.h"

namespace bspnow {
namespace {

constexpr char kTimePattern[] = "%Y-%m-%dT%H:%M:%S.%e%z";  // RFC 3339.

bool IsKeyCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// What is before the '=' of a pair; none if no pair begins here.
std::optional<std::string_view> KeyAt(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && IsKeyCharacter(text[end])) end += 1;
  if (end == 0 || end == text.size() || text[end] != '=') return std::nullopt;
  return text.substr(0, end);
}

/// Where a text that begins here ends: at a quote before the next pair, or the end of all.
std::size_t EndOfQuoted(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '"') continue;
    const bool last = i + 1 == text.size();
    if (last || (text[i + 1] == ' ' && KeyAt(text.substr(i + 2)))) return i;
  }
  return text.size();
}

/// Takes the value of a pair off the front.
std::string_view TakeValue(std::string_view& text) {
  const bool quoted = text.starts_with('"');
  if (quoted) text.remove_prefix(1);
  const std::size_t end = quoted ? EndOfQuoted(text) : std::min(text.find(' '), text.size());
  const std::string_view value = text.substr(0, end);
  text.remove_prefix(std::min(end + (quoted ? 1 : 0), text.size()));
  return value;
}

/// Of the character that begins here, in UTF-8; 0: it is none, or a control character, of the
/// direction of text as well.
std::size_t PrintableBytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first < ' ' || first == 0x7f ? 0 : 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool control = first == 0xc2 && byte(1) < 0xa0;  // Their second half.
  return control || BidiControlBytes(text) != 0 ? 0 : bytes;
}

/// %v, whatever users have put into names.
class HarmlessText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string text = HarmlessLogText({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<HarmlessText>();
  }
};

std::unique_ptr<spdlog::formatter> TextFormatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<HarmlessText>('*').set_pattern(std::string(kTimePattern) + " level=%l %*");
  return formatter;
}

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    spdlog::memory_buf_t time;
    time_.format(message, time);
    const auto level = spdlog::level::to_string_view(message.level);
    const std::string json = JsonLogLine({time.data(), time.size()}, {level.data(), level.size()},
                                         {message.payload.data(), message.payload.size()});
    line.append(json.data(), json.data() + json.size());
    line.push_back('\n');
  }
  std::unique_ptr<formatter> clone() const override { return std::make_unique<JsonFormatter>(); }

 private:
  spdlog::pattern_formatter time_{kTimePattern, spdlog::pattern_time_type::local, ""};
};

/// Nobody catches what a thread throws that cannot be started, nor what is thrown for want of
/// memory; what else is thrown is our bug, and leaves a core.
[[noreturn]] void EndUncaught() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::system_error& error) {
    spdlog::error(
        "event=failed error=\"{}; if it is threads or memory that the system does not give, raise "
        "the limits (ulimit -u, -v; pids and memory of the control group)\"",
        error.what());
    _exit(EXIT_FAILURE);
  } catch (const std::bad_alloc&) {
    spdlog::error("event=failed error=\"there is no memory\"");
    _exit(EXIT_FAILURE);
  } catch (...) {
    spdlog::error("event=failed error=\"an exception that nobody caught\"");
  }
  abort();
}

}  // namespace

LogFormat LogFormatOf(std::string_view name) {
  return name == "json" ? LogFormat::kJson : LogFormat::kText;
}

std::string JsonLogLine(std::string_view time, std::string_view level, std::string_view message) {
  using nlohmann::ordered_json;
  ordered_json line = {{"time", time}, {"level", level}, {"message", message}};
  std::string_view rest = message;
  while (const auto key = KeyAt(rest)) {
    rest.remove_prefix(key->size() + 1);
    const std::string_view value = TakeValue(rest);
    if (!line.contains(std::string(*key))) line[std::string(*key)] = value;
    if (!rest.starts_with(' ')) break;
    rest.remove_prefix(1);
  }
  constexpr bool kAsAscii = true;  // \uHHHH: a terminal sees no character that steers it.
  return line.dump(-1, ' ', kAsAscii, ordered_json::error_handler_t::replace);
}

std::string HarmlessLogText(std::string_view text) {
  std::string harmless;
  while (!text.empty()) {
    const std::size_t bytes = PrintableBytes(text);
    harmless += text.substr(0, bytes);
    if (bytes == 0)
      absl::StrAppendFormat(&harmless, "\\x%02x", static_cast<unsigned char>(text.front()));
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return harmless;
}

void SetUpLog(const std::string& program, const std::string& level, LogFormat format) {
  auto log =
      std::make_shared<spdlog::logger>(program, std::make_shared<UnblockedSink>(STDERR_FILENO));
  log->set_level(spdlog::level::from_str(level));
  log->set_formatter(format == LogFormat::kJson ? std::make_unique<JsonFormatter>()
                                                : TextFormatter());
  spdlog::set_default_logger(std::move(log));
  std::set_terminate(EndUncaught);
}

}  // namespace bspnow
