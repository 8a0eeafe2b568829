#include "client/profile/profile_html.h"

#include <absl/strings/str_cat.h>

#include <vector>

#include "client/profile/profile_svg.h"
#include "client/profile/profile_table.h"
#include "client/profile/svg_text.h"

namespace bspnow::client {
namespace {

constexpr char kHead[] =
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<style>\n"
    "body{font:14px/1.5 system-ui,sans-serif;max-width:1100px;margin:1.5rem auto;padding:0 1rem;"
    "background:#fff;color:#24292f}\n"
    "svg{width:100%;height:auto}\n"
    ".table{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;width:100%}\n"
    "th,td{padding:.3rem .7rem;text-align:right;border-bottom:1px solid #d8dee4;white-space:nowrap}"
    "\nth:first-child,td:first-child{text-align:left}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{font-weight:600}"
    "dd{margin:0}\n"
    "@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}"
    "th,td{border-color:#30363d}}\n"
    "</style>\n";

std::string Sums(const JobProfile& profile, const std::optional<Prediction>& prediction) {
  std::string text = "<dl>\n";
  for (const Term& term : SumTerms(profile, prediction))
    absl::StrAppend(&text, "<dt>", MarkupText(term.word), "</dt><dd>", MarkupText(term.meaning),
                    "</dd>\n");
  return text + "</dl>\n";
}

std::string TableOf(const std::vector<std::string>& headings,
                    const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"table\"><table>\n<tr>";
  for (const std::string& heading : headings) absl::StrAppend(&text, "<th>", heading, "</th>");
  text += "</tr>\n";
  for (const std::vector<std::string>& row : rows) {
    text += "<tr>";
    for (const std::string& cell : row) absl::StrAppend(&text, "<td>", MarkupText(cell), "</td>");
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string GroupsTable(const JobProfile& profile) {
  if (profile.group_calls.empty()) return "";
  return "<h2>By the call that ended a group's superstep</h2>\n" +
         TableOf(GroupCallHeadings(profile), GroupCallRows(profile));
}

}  // namespace

std::string ProfileHtml(const JobProfile& profile, const std::optional<Prediction>& prediction) {
  return absl::StrCat("<!doctype html>\n<html lang=\"en\">\n<head>\n", kHead, "<title>",
                      MarkupText(profile.title), "</title>\n</head>\n<body>\n", ProfileSvg(profile),
                      Sums(profile, prediction), "<h2>By the call that ended the superstep</h2>\n",
                      TableOf(CallHeadings(profile), CallRows(profile)), GroupsTable(profile),
                      "<p>A bar is a superstep: as wide as communication and barrier took, as high"
                      " as the data that was moved; the space before it is computing. Columns of"
                      " several supersteps show one of them on average.</p>\n</body>\n</html>\n");
}

}  // namespace bspnow::client
