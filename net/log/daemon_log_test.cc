#include "net/log/daemon_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

namespace bspnow {
namespace {

nlohmann::json Line(std::string_view message) {
  const std::string line = JsonLogLine("2026-01-02T03:04:05.678+00:00", "info", message);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  return nlohmann::json::parse(line);
}

TEST(HarmlessLogTextTest, IsOneLineAndNoTerminalsOrders) {
  EXPECT_EQ(HarmlessLogText("dir=/x\n2026 level=error\r\x1b[31m\x7f"),
            "dir=/x\\x0a2026 level=error\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(HarmlessLogText("caf\u00e9 \u20ac \U0001f600 \u009b31m"),
            "caf\u00e9 \u20ac \U0001f600 \\xc2\\x9b31m");
  EXPECT_EQ(HarmlessLogText(""), "");
}

TEST(HarmlessLogTextTest, DoesNotTurnTheDirectionOfItsLine) {
  EXPECT_EQ(HarmlessLogText("a\u202eb\u2066\u061c\u2025"),
            "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xd8\\x9c\u2025");
}

TEST(HarmlessLogTextTest, IsUtf8WhateverTheBytes) {
  EXPECT_EQ(HarmlessLogText("a\x9b b\xff c\xe2\x82"), "a\\x9b b\\xff c\\xe2\\x82");
  EXPECT_EQ(HarmlessLogText("\xe2\x82x\xc3"), "\\xe2\\x82x\\xc3");
}

TEST(JsonLogLineTest, PairsAreMembers) {
  const auto line = Line("event=job_ended job=7 reason=\"out of memory, \"really\"\" last=");
  EXPECT_EQ(line["time"], "2026-01-02T03:04:05.678+00:00");
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["event"], "job_ended");
  EXPECT_EQ(line["job"], "7");
  EXPECT_EQ(line["reason"], "out of memory, \"really\"");
  EXPECT_EQ(line["last"], "");
}

TEST(JsonLogLineTest, WhatIsNoPairIsInTheMessage) {
  EXPECT_EQ(Line("a plain text = nothing")["message"], "a plain text = nothing");
  EXPECT_EQ(Line("event=x and more")["event"], "x");
  EXPECT_EQ(Line("event=x and more").size(), 4u);
  EXPECT_EQ(Line("").size(), 3u);
  EXPECT_EQ(Line("open=\"").size(), 4u);
}

TEST(JsonLogLineTest, NoTextReplacesWhatStandsBeforeIt) {
  const auto line = Line("event=job_lost job=7 reason=\"x\" job=8 level=fine time=\"never\"");
  EXPECT_EQ(line["job"], "7");
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["time"], "2026-01-02T03:04:05.678+00:00");
}

TEST(JsonLogLineTest, NoCharacterSteersATerminal) {
  const std::string message = "name=\u202e\u009b31mcaf\u00e9";
  const std::string line = JsonLogLine("", "info", message);
  EXPECT_NE(line.find(R"("name":"\u202e\u009b31mcaf\u00e9")"), std::string::npos) << line;
  EXPECT_EQ(nlohmann::json::parse(line)["message"], message);
}

TEST(JsonLogLineTest, IsValidWhateverTheBytes) {
  std::string bytes = "event=x reason=\"";
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  EXPECT_EQ(Line(bytes + "\"")["event"], "x");
  for (std::size_t length = 0; length < bytes.size(); ++length) Line(bytes.substr(length));
}

TEST(DaemonLogDeathTest, ADaemonThatGetsNoThreadSaysSo) {
  EXPECT_EXIT(
      {
        SetUpLog("test", "info", LogFormat::kText);
        std::thread([] {
          throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        }).join();
      },
      testing::ExitedWithCode(1), "event=failed error=.*unavailable.*ulimit -u");
}

}  // namespace
}  // namespace bspnow
