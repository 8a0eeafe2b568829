#include "client/profile/profile_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/profile/chart_axis.h"
#include "client/profile/profile_svg.h"
#include "client/profile/svg_text.h"
#include "client/profile/trace_json.h"

namespace bspnow::client {
namespace {

using nlohmann::json;

/// `supersteps` of p processes, in which each sends 100 bytes.
JobProfile Regular(std::uint32_t p, std::uint64_t supersteps) {
  JobProfile profile{.title = "a<b>", .p = p};
  profile.calls.push_back({.address = 1, .name = "a<b>.c:3", .all = {}});
  for (std::uint32_t pid = 0; pid < p; ++pid) {
    profile.pids.push_back(pid);
    profile.nodes.push_back("");
  }
  for (std::uint64_t s = 0; s < supersteps; ++s) {
    Column column{.first = s, .start_ns = static_cast<double>(s) * 100, .call = 0};
    column.all = {.supersteps = 1,
                  .compute_ns = 50,
                  .wait_ns = 20,
                  .release_ns = 10,
                  .exchange_ns = 20,
                  .w_ns = 60,
                  .h_bytes = 100,
                  .out_bytes = 100.0 * p,
                  .messages = 1};
    column.of.assign(p, {50, 20, 10, 20, 100, 100, 1, 1});
    column.saved = s == 2;
    AddTo(profile.all, column.all);
    AddTo(profile.calls[0].all, column.all);
    profile.columns.push_back(std::move(column));
  }
  profile.model = {.g_ns_per_byte = 0.1, .l_ns = 30};
  return profile;
}

std::size_t Count(const std::string& text, const std::string& of) {
  std::size_t count = 0;
  for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

TEST(ProfileFileTest, EachFormSaysWhatGroupsDid) {
  JobProfile profile = Regular(2, 10);
  for (const ProfileForm form : {ProfileForm::kText, ProfileForm::kHtml, ProfileForm::kSvg})
    EXPECT_EQ((*ProfileText(form, profile, std::nullopt)).find("left out"), std::string::npos);
  profile.groups = {.supersteps = 6, .wait_ns = 30, .out_bytes = 48, .messages = 6};
  profile.group_calls.push_back({.address = 1, .name = "a<b>.c:9", .all = profile.groups});
  for (const ProfileForm form : {ProfileForm::kText, ProfileForm::kHtml, ProfileForm::kSvg}) {
    const std::string text = *ProfileText(form, profile, std::nullopt);
    EXPECT_NE(text.find("left out"), std::string::npos) << text;
    EXPECT_NE(text.find("groups, whose members ended 6 supersteps: 6 messages"), std::string::npos)
        << text;
  }
  EXPECT_NE((*ProfileText(ProfileForm::kText, profile, std::nullopt)).find("\na<b>.c:9 "),
            std::string::npos);
  EXPECT_NE((*ProfileText(ProfileForm::kHtml, profile, std::nullopt)).find("<td>a&lt;b&gt;.c:9"),
            std::string::npos);
  const json parsed = json::parse(*ProfileText(ProfileForm::kJson, profile, std::nullopt));
  EXPECT_EQ(parsed["groups"]["sync_ns"], 30);
  EXPECT_EQ(parsed["group_calls"][0]["name"], "a<b>.c:9");
  EXPECT_EQ(parsed["group_calls"][0]["bytes_out"], 48);
  EXPECT_EQ(parsed["totals"]["time_ns"], 1000);  // With and without.
}

TEST(ProfileFileTest, ASimulatedMachineHasNoTimeForGroups) {
  JobProfile profile = Regular(2, 10);
  profile.groups = {.supersteps = 6, .wait_ns = 30, .out_bytes = 48, .messages = 6};
  profile.group_calls.push_back({.address = 1, .name = "b.c:9", .all = profile.groups});
  Simulate(*ParseSimulation("g=1,l=1"), profile);
  EXPECT_EQ(profile.groups.time_ns(), 0);
  const std::string text = *ProfileText(ProfileForm::kText, profile, std::nullopt);
  EXPECT_NE(text.find("left out   of h and the supersteps: groups, "), std::string::npos) << text;
  EXPECT_EQ(text.find("in the calls"), std::string::npos) << text;
  const json parsed = json::parse(*ProfileText(ProfileForm::kJson, profile, std::nullopt));
  EXPECT_TRUE(parsed["groups"]["sync_ns"].is_null());
}

TEST(ProfileFileTest, APageFetchesNothingAndEscapesNames) {
  const std::string page = *ProfileText(ProfileForm::kHtml, Regular(4, 10), Machine{2, 1, 1, 1});
  for (const char* from : {"src=", "href=", "url(", "@import", "<script"})
    EXPECT_EQ(page.find(from), std::string::npos) << from;
  EXPECT_NE(page.find("a&lt;b&gt;.c:3"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(page.find("elsewhere"), std::string::npos);
}

TEST(ProfileFileTest, ABandForEachProcessAndABarForEachSuperstep) {
  const std::string svg = ProfileSvg(Regular(3, 5));
  for (const char* band : {"class=\"b0\"", "class=\"b1\"", "class=\"b2\""})
    EXPECT_GE(Count(svg, band), 2u) << band;  // Out and in, and the legend.
  const std::size_t path = svg.find("<path");
  EXPECT_EQ(Count(svg.substr(path, svg.find("/>", path) - path), "M"), 5u);
  EXPECT_NE(svg.find(">saved</text>"), std::string::npos);
}

TEST(ProfileFileTest, APictureHasNoVariables) {
  const std::string svg = ProfileSvg(Regular(3, 5));
  EXPECT_EQ(svg.find("var("), std::string::npos) << "librsvg and Inkscape draw black then";
  EXPECT_NE(svg.find(".paper{fill:#fff}"), std::string::npos);
}

TEST(ProfileFileTest, WordsAtMarksDoNotCoverEachOther) {
  JobProfile profile = Regular(2, 100);
  for (Column& column : profile.columns) column.saved = true;
  profile.columns[1].came_back = true;
  const std::string svg = ProfileSvg(profile);
  EXPECT_EQ(Count(svg, "class=\"mark\""), 100u);
  EXPECT_EQ(Count(svg, ">resumed</text>"), 1u);
  EXPECT_GT(Count(svg, ">saved</text>"), 10u);
  EXPECT_LT(Count(svg, ">saved</text>"), 17u);  // 704 wide in all, 46 each.
}

TEST(ProfileFileTest, WhatIsNotPredictedIsAHoleInTheLine) {
  JobProfile profile = Regular(2, 5);
  profile.model.g_ns_per_byte = std::nullopt;
  for (const std::size_t silent : {0, 1, 4}) profile.columns[silent].all.h_bytes = 0;
  const std::string svg = ProfileSvg(profile);
  const std::size_t end = svg.find("\" class=\"model\"");
  ASSERT_NE(end, std::string::npos);
  const std::size_t path = svg.rfind("<path", end);
  EXPECT_EQ(Count(svg.substr(path, end - path), "M"), 2u);
}

TEST(ProfileFileTest, StaysLightWithManySuperstepsAndProcesses) {
  EXPECT_LT(ProfileSvg(Regular(64, 4'000)).size(), 2'000'000u);
  EXPECT_LT(Count(TraceJson(Regular(64, 4'000)), "\n"), 600'000u);
}

TEST(ProfileFileTest, AJobWithoutSuperstepsIsDrawn) {
  for (const ProfileForm form :
       {ProfileForm::kText, ProfileForm::kHtml, ProfileForm::kSvg, ProfileForm::kJson})
    EXPECT_TRUE(ProfileText(form, Regular(0, 0), std::nullopt).ok());
}

TEST(ProfileFileTest, JsonHasWhatTheColumnsHave) {
  const json made = json::parse(*ProfileText(ProfileForm::kJson, Regular(2, 3), std::nullopt));
  EXPECT_EQ(made["totals"]["h_bytes"], 300);
  EXPECT_EQ(made["totals"]["predicted_ns"], 3 * (60 + 10 + 30));
  EXPECT_EQ(made["records"][2]["saved"], true);
  EXPECT_EQ(made["records"][1]["processes"][1]["bytes_out"], 100);
  EXPECT_EQ(made["calls"][0]["name"], "a<b>.c:3");
  EXPECT_TRUE(made["prediction"].is_null());
}

TEST(ProfileFileTest, ATableForATerminal) {
  const std::string text = *ProfileText(ProfileForm::kText, Regular(2, 3), std::nullopt);
  EXPECT_NE(text.find("predicted"), std::string::npos);
  EXPECT_NE(text.find("0  a<b>.c:3"), std::string::npos);
}

TEST(ProfileFileTest, TheNameOfAFileSaysItsForm) {
  EXPECT_EQ(FormOf("a.svg"), ProfileForm::kSvg);
  EXPECT_EQ(FormOf("a.svg.html"), ProfileForm::kHtml);
  EXPECT_EQ(FormOf("a.json"), ProfileForm::kJson);
}

TEST(ProfileFileTest, NoMachineThatIsTooLarge) {
  EXPECT_FALSE(ProfileText(ProfileForm::kHtml, Regular(2, 3), Machine{4, 1, 1, 1}).ok());
}

TEST(TraceTest, ATrackForEachProcessWithThePartsOfEachSuperstep) {
  const json trace = json::parse(TraceJson(Regular(2, 3)));
  double end_us = 0;
  int computing = 0;
  int marks = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X")
      end_us = std::max<double>(end_us, double(event["ts"]) + double(event["dur"]));
    computing += event["name"] == "computing" ? 1 : 0;
    marks += event["ph"] == "i" ? 1 : 0;
  }
  EXPECT_NEAR(end_us, 0.3, 1e-9);
  EXPECT_EQ(computing, 6);
  EXPECT_EQ(marks, 1);
}

TEST(TraceTest, WhatGroupsDidIsSaidAtTheEnd) {
  JobProfile profile = Regular(2, 3);
  profile.groups = {.supersteps = 6, .wait_ns = 30, .out_bytes = 48, .messages = 6};
  const json trace = json::parse(TraceJson(profile));
  const json& last = trace["traceEvents"].back();
  EXPECT_EQ(last["ph"], "i");
  EXPECT_NEAR(double(last["ts"]), 0.3, 1e-9);
  const std::string name = last["name"];
  EXPECT_EQ(name.find("left out: groups, whose members ended 6 supersteps: 6 messages"), 0u)
      << name;
}

TEST(TraceTest, AJobThatBeganAgainIsMarked) {
  JobProfile profile = Regular(2, 3);
  proto::JobLoss loss;
  loss.set_reason("worker w3 lost");
  loss.set_resumed(true);
  loss.set_from_start(true);
  profile.losses = {loss};
  const std::string trace = TraceJson(profile);
  EXPECT_NE(trace.find("began again from the start"), std::string::npos) << trace;
  EXPECT_NE(trace.find("worker w3 lost"), std::string::npos) << trace;
}

TEST(ChartAxisTest, TicksAreFew) {
  for (const double high : {0.7, 1.0, 19.0, 333.0, 1e9}) {
    const ChartAxis axis(ChartAxis::Scale::kLinear, 0, high, 100, 0);
    EXPECT_GE(axis.Ticks().size(), 2u) << high;
    EXPECT_LE(axis.Ticks().size(), 6u) << high;
  }
  const ChartAxis wide = ChartAxis::For({1, 1, 1, 1e6}, 100, 0);
  EXPECT_EQ(wide.scale(), ChartAxis::Scale::kLog);
  EXPECT_GE(wide.Ticks().size(), 2u);
  EXPECT_LE(wide.Ticks().size(), 6u);
  EXPECT_EQ(wide.At(0), 100);
}

TEST(MarkupTest, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(MarkupText("a\xff\n\""), "a\xef\xbf\xbd &quot;");
}

}  // namespace
}  // namespace bspnow::client
