#include "client/profile/profile_svg.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <functional>

#include "client/profile/chart_axis.h"
#include "client/profile/profile_table.h"
#include "client/profile/svg_text.h"
#include "client/view/quantities.h"

namespace bspnow::client {
namespace {

using Anchor = SvgText::Anchor;

constexpr double kWidth = 1000;
constexpr double kLeft = 76;
constexpr double kRight = 780;
constexpr double kTop = 56;
constexpr double kPanelHeight = 130;
constexpr double kPanelGap = 32;
constexpr double kLegend = kRight + 24;
constexpr double kLegendLine = 17;
constexpr std::size_t kLegendLines = 14;
constexpr std::size_t kLabelsMax =
    60;  // Bars with the number of their call; more cover each other.
constexpr double kBarWidthMin = 0.4;
constexpr double kMarkBelow = 30;  // The last panel: below the numbers of the time.
constexpr double kMarkWidth = 46;  // What "resumed" takes.
// Bars of all bands together: what a browser draws at once without a pause.
constexpr std::size_t kBandsMax = 14'000;
constexpr std::size_t kColumnsMin = 120;
constexpr std::size_t kColumnsMax = 400;
constexpr std::size_t kShades = 8;

// No variables: whatever draws SVG knows plain colours, where librsvg, Inkscape and most of what
// makes PDF of it would draw black on black.
constexpr char kCss[] =
    "text{font:11px system-ui,sans-serif;fill:#24292f}\n"
    ".big{font-size:14px;font-weight:600}.faint{fill:#8c959f}\n"
    ".paper{fill:#fff}.line{stroke:#d8dee4}.mark{stroke:#bc4c00}\n"
    ".area{fill:#8c959f;fill-opacity:0}.area:hover{fill-opacity:.25}\n"
    ".w{fill:#d0d7de}.real{fill:none;stroke:#0969da;stroke-width:1.5}\n"
    ".model{fill:none;stroke:#bc4c00;stroke-width:1.5;stroke-dasharray:4 3}\n"
    ".dot{fill:#0969da}.dots{fill:none;stroke:#0969da;stroke-width:.6;opacity:.5}\n"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.faint,.area{fill:#8b949e}"
    ".paper{fill:#0d1117}.line{stroke:#30363d}.mark,.model{stroke:#f0883e}.w{fill:#3d444d}"
    ".dot{fill:#58a6ff}.real,.dots{stroke:#58a6ff}}\n";

/// Each process has a shade: hues that differ for the first few, a ramp for many.
std::string ShadesCss(std::size_t processes) {
  std::string css;
  for (std::size_t i = 0; i < processes; ++i) {
    const double part = processes <= kShades ? static_cast<double>(i) / kShades
                                             : static_cast<double>(i) / double(processes);
    absl::StrAppendFormat(&css, ".b%d{fill:hsl(%.0f,62%%,%d%%)}", i, 212 + 300 * part,
                          i % 2 == 0 ? 52 : 64);
  }
  return css + "\n";
}

class Picture {
 public:
  explicit Picture(const JobProfile& profile)
      : profile_(profile),
        columns_(Condense(profile.columns,
                          std::clamp(kBandsMax / std::max<std::size_t>(1, profile.pids.size()),
                                     kColumnsMin, kColumnsMax))),
        has_traffic_(profile.all.h_bytes > 0),
        panels_(has_traffic_ ? 4 : 1),
        time_(ChartAxis::Scale::kLinear, 0, std::max(1.0, profile.all.time_ns()), kLeft, kRight),
        svg_(kWidth, PanelTop(panels_) + 14) {}

  std::string Draw() {
    svg_.Rect({0, 0, kWidth, PanelTop(panels_) + 14}, "paper");
    svg_.Text(kLeft, 20, Anchor::kStart, profile_.title, "big");
    if (profile_.groups.supersteps != 0)
      svg_.Text(kLeft, 34, Anchor::kStart, "left out: " + GroupsText(profile_), "faint");
    if (has_traffic_) {
      DrawStrata("data out", &ProcessFigures::out_bytes, Labels::kCalls);
      DrawStrata("data in", &ProcessFigures::in_bytes, Labels::kNone);
    }
    DrawTimes();
    if (has_traffic_) DrawG();
    DrawMarks();
    DrawAreas();
    DrawLegend();
    return svg_.Finish(kCss + ShadesCss(profile_.pids.size()), profile_.title);
  }

 private:
  enum class Labels { kNone, kCalls };
  struct Key {
    std::string text;
    std::string css_class;
  };

  static double PanelTop(int panel) { return kTop + panel * (kPanelHeight + kPanelGap); }
  double top() const { return PanelTop(panel_); }
  double bottom() const { return top() + kPanelHeight; }
  static double Each(const Column& column) { return static_cast<double>(column.all.supersteps); }
  double begin(const Column& column) const { return time_.At(column.start_ns); }
  double end(const Column& column) const {
    return time_.At(column.start_ns + column.all.time_ns());
  }

  void DrawFrame(const std::string& heading, const ChartAxis& axis,
                 const std::function<std::string(double)>& tick_text) {
    svg_.Text(kLeft, top() - 7, Anchor::kStart,
              heading + (axis.scale() == ChartAxis::Scale::kLog ? " (logarithmic)" : ""));
    for (const double tick : axis.Ticks()) {
      svg_.Line(kLeft, axis.At(tick), kRight, axis.At(tick), "line");
      svg_.Text(kLeft - 6, axis.At(tick) + 4, Anchor::kEnd, tick_text(tick), "faint");
    }
    svg_.Line(kLeft, bottom(), kRight, bottom(), "line");
    for (const double tick : time_.Ticks()) {
      svg_.Line(time_.At(tick), bottom(), time_.At(tick), bottom() + 4, "line");
      if (panel_ + 1 < panels_) continue;  // They share the time.
      svg_.Text(time_.At(tick), bottom() + 15, Anchor::kMiddle, NsText(tick), "faint");
    }
  }

  // "The height of each band represents the amount of data communicated by a particular process";
  // the white space before a bar is the local computation (Q&A about BSP, section 17).
  void DrawStrata(const std::string& heading, double ProcessFigures::*bytes, Labels labels) {
    std::vector<double> heights;
    for (const Column& column : columns_) {
      heights.push_back(0);
      for (const ProcessFigures& of : column.of) heights.back() += of.*bytes / Each(column);
    }
    const double most = *std::max_element(heights.begin(), heights.end());
    const ChartAxis axis(ChartAxis::Scale::kLinear, 0, most * 1.08, bottom(), top());
    DrawFrame(heading + " of each superstep, a band a process", axis, BytesText);
    std::vector<std::string> bands(profile_.pids.size());
    for (const Column& column : columns_) {
      const double right = end(column);
      const double width =
          std::max(kBarWidthMin, right - time_.At(column.start_ns + column.all.compute_ns));
      double below = 0;
      for (std::size_t i = 0; i < bands.size(); ++i) {
        const double height = column.of[i].*bytes / Each(column);
        if (height <= 0) continue;
        const double y = axis.At(below + height);
        absl::StrAppend(&bands[i], "M", Coordinate(right - width), " ", Coordinate(y), "h",
                        Coordinate(width), "v", absl::StrFormat("%.2f", axis.At(below) - y), "h-",
                        Coordinate(width), "z");
        below += height;
      }
    }
    for (std::size_t i = 0; i < bands.size(); ++i)
      if (!bands[i].empty()) svg_.Path(bands[i], absl::StrCat("b", i));
    if (labels == Labels::kCalls && columns_.size() <= kLabelsMax) DrawLabels(heights, axis);
    panel_ += 1;
  }

  void DrawLabels(const std::vector<double>& heights, const ChartAxis& axis) {
    double free = kLeft;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double x = time_.At(columns_[i].start_ns + columns_[i].all.compute_ns);
      if (columns_[i].call == kSeveralCalls || x < free) continue;
      svg_.Text(x, axis.At(heights[i]) - 2, Anchor::kStart, absl::StrCat(columns_[i].call));
      free = x + 14;
    }
  }

  void DrawTimes() {
    std::vector<double> values;
    for (const Column& column : columns_) {
      values.push_back(column.all.time_ns() / Each(column));
      values.push_back(column.all.w_ns / Each(column));
    }
    const ChartAxis axis = ChartAxis::For(values, bottom(), top());
    DrawFrame("time of a superstep", axis, NsText);
    std::string w = "M" + Place(kLeft, bottom());
    std::string real;
    std::string model;
    bool known = false;  // The prediction of the column before.
    for (const Column& column : columns_) {
      const double each = Each(column);
      AddStep(column, axis.At(column.all.w_ns / each), w, 'L');
      AddStep(column, axis.At(column.all.time_ns() / each), real, real.empty() ? 'M' : 'L');
      const auto predicted = PredictedNs(profile_.model, column.all);
      if (predicted) AddStep(column, axis.At(*predicted / each), model, known ? 'L' : 'M');
      known = predicted.has_value();
    }
    svg_.Path(w + "V" + Coordinate(bottom()) + "z", "w");
    svg_.Path(real, "real");
    if (!model.empty()) svg_.Path(model, "model");
    std::vector<Key> keys = {{"measured", "real"}, {"w, computing", "w"}};
    if (!model.empty()) keys.push_back({"predicted, w + h g + l", "model"});
    DrawKey(keys);
    panel_ += 1;
  }

  static std::string Place(double x, double y) {
    return absl::StrCat(Coordinate(x), " ", Coordinate(y));
  }

  void AddStep(const Column& column, double y, std::string& path, char first) const {
    absl::StrAppend(&path, std::string(1, first), Place(begin(column), y), "H",
                    Coordinate(end(column)));
  }

  // "The actual value of g attained on a superstep-by-superstep basis, calculated from the
  // execution time of the superstep"; the dotted line is the one for all (appendix B, Figures 9 to
  // 11).
  void DrawG() {
    std::vector<double> values;
    for (const Column& column : columns_) values.push_back(GOf(column));
    std::vector<double> all = values;
    const double model = profile_.model.g_ns_per_byte.value_or(0);
    all.push_back(model);
    const ChartAxis axis = ChartAxis::For(all, bottom(), top());
    DrawFrame("g of each superstep, ns a byte of h", axis,
              [](double ns) { return absl::StrCat(ns); });
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (values[i] <= 0) continue;
      const double x = (begin(columns_[i]) + end(columns_[i])) / 2;
      svg_.Dot(x, axis.At(values[i]), "dot");
      absl::StrAppend(&line, line.empty() ? "M" : "L", Place(x, axis.At(values[i])));
    }
    if (!line.empty()) svg_.Path(line, "dots");
    if (model > 0) svg_.Line(kLeft, axis.At(model), kRight, axis.At(model), "model");
    std::vector<Key> keys = {{"measured", "real"}};
    if (model > 0) keys.push_back({"g of the whole job", "model"});
    DrawKey(keys);
    panel_ += 1;
  }

  /// 0 where there is none.
  double GOf(const Column& column) const {
    if (column.all.h_bytes <= 0) return 0;
    const double l_ns = profile_.model.l_ns.value_or(0) * Each(column);
    return std::max(0.0, column.all.time_ns() - column.all.w_ns - l_ns) / column.all.h_bytes;
  }

  void DrawMarks() {
    const double bottom = PanelTop(panels_) - kPanelGap;
    double free = 0;
    for (const Column& column : columns_) {
      if (!column.saved && !column.came_back) continue;
      const double x = end(column);
      svg_.Line(x, kTop - 4, x, bottom, "mark");
      if (x < free && !column.came_back) continue;
      svg_.Text(x, bottom + kMarkBelow, Anchor::kMiddle, column.came_back ? "resumed" : "saved",
                "faint");
      free = x + kMarkWidth;
    }
  }

  void DrawAreas() {
    for (const Column& column : columns_) {
      const double width = std::max(kBarWidthMin, end(column) - begin(column));
      svg_.Area({begin(column), kTop, width, PanelTop(panels_) - kPanelGap - kTop}, Words(column));
    }
  }

  std::string Words(const Column& column) const {
    const double each = Each(column);
    std::string words =
        column.all.supersteps == 1
            ? absl::StrCat("superstep ", column.first)
            : absl::StrCat("supersteps ", column.first, " to ",
                           column.first + column.all.supersteps - 1, ", of each on average");
    if (column.call != kSeveralCalls)
      absl::StrAppend(&words, "\nended by ", profile_.calls[column.call].name);
    absl::StrAppend(&words, "\ntime ", NsText(column.all.time_ns() / each));
    if (const auto predicted = PredictedNs(profile_.model, column.all))
      absl::StrAppend(&words, ", predicted ", NsText(*predicted / each));
    absl::StrAppend(&words, "\nw ", NsText(column.all.w_ns / each), ", h ",
                    BytesText(column.all.h_bytes / each), "\nwaiting ",
                    NsText(column.all.wait_ns / each), ", release ",
                    NsText(column.all.release_ns / each), ", exchange ",
                    NsText(column.all.exchange_ns / each));
    return words;
  }

  void DrawKey(const std::vector<Key>& keys) {
    double y = top() + 8;
    for (const Key& key : keys) {
      if (key.css_class == "w") {
        svg_.Rect({kLegend, y - 5, 16, 8}, key.css_class);
      } else {
        svg_.Line(kLegend, y - 1, kLegend + 16, y - 1, key.css_class);
      }
      svg_.Text(kLegend + 22, y + 3, Anchor::kStart, key.text);
      y += kLegendLine;
    }
  }

  void DrawLegend() {
    if (!has_traffic_) return;
    double y = kTop + 8;
    svg_.Text(kLegend, y, Anchor::kStart, "ended by", "faint");
    for (std::size_t i = 0; i < std::min(profile_.calls.size(), kLegendLines / 2); ++i) {
      y += kLegendLine;
      svg_.Text(kLegend, y, Anchor::kStart, absl::StrCat(i, "  ", profile_.calls[i].name));
    }
    y = PanelTop(1) + 8;
    svg_.Text(kLegend, y, Anchor::kStart, "process", "faint");
    const std::size_t processes = profile_.pids.size();
    const std::size_t step = (processes + kLegendLines / 2 - 1) / (kLegendLines / 2);
    for (std::size_t i = 0; i < processes; i += std::max<std::size_t>(1, step)) {
      y += kLegendLine;
      svg_.Rect({kLegend, y - 9, 16, 10}, absl::StrCat("b", i));
      svg_.Text(kLegend + 22, y, Anchor::kStart, absl::StrCat(profile_.pids[i]));
    }
  }

  const JobProfile& profile_;
  const std::vector<Column> columns_;
  const bool has_traffic_;
  const int panels_;
  const ChartAxis time_;
  SvgText svg_;
  int panel_ = 0;
};

}  // namespace

std::string ProfileSvg(const JobProfile& profile) { return Picture(profile).Draw(); }

}  // namespace bspnow::client
