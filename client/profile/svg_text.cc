#include "client/profile/svg_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <nlohmann/json.hpp>

namespace bspnow::client {
namespace {

// nlohmann knows UTF-8: what is none is replaced.
std::string ValidUtf8(const std::string& text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

std::string Class(const std::string& css_class) {
  return css_class.empty() ? "" : absl::StrCat(" class=\"", css_class, "\"");
}

std::string Places(const Box& box) {
  return absl::StrCat("x=\"", Coordinate(box.x), "\" y=\"", Coordinate(box.y), "\" width=\"",
                      Coordinate(box.width), "\" height=\"", Coordinate(box.height), "\"");
}

}  // namespace

std::string MarkupText(const std::string& text) {
  std::string escaped;
  for (const char c : ValidUtf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    }
  }
  return escaped;
}

std::string Coordinate(double value) {
  std::string text = absl::StrFormat("%.1f", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

void SvgText::Rect(const Box& box, const std::string& css_class) {
  absl::StrAppend(&shapes_, "<rect ", Places(box), Class(css_class), "/>\n");
}

void SvgText::Area(const Box& box, const std::string& words) {
  absl::StrAppend(&shapes_, "<rect ", Places(box), " class=\"area\"><title>", MarkupText(words),
                  "</title></rect>\n");
}

void SvgText::Line(double x1, double y1, double x2, double y2, const std::string& css_class) {
  absl::StrAppend(&shapes_, "<line x1=\"", Coordinate(x1), "\" y1=\"", Coordinate(y1), "\" x2=\"",
                  Coordinate(x2), "\" y2=\"", Coordinate(y2), "\"", Class(css_class), "/>\n");
}

void SvgText::Path(const std::string& commands, const std::string& css_class) {
  absl::StrAppend(&shapes_, "<path d=\"", commands, "\"", Class(css_class), "/>\n");
}

void SvgText::Dot(double x, double y, const std::string& css_class) {
  absl::StrAppend(&shapes_, "<circle cx=\"", Coordinate(x), "\" cy=\"", Coordinate(y), "\" r=\"2\"",
                  Class(css_class), "/>\n");
}

void SvgText::Text(double x, double y, Anchor anchor, const std::string& text,
                   const std::string& css_class) {
  const char* const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  absl::StrAppend(&shapes_, "<text x=\"", Coordinate(x), "\" y=\"", Coordinate(y), "\"",
                  anchors[static_cast<int>(anchor)], Class(css_class), ">", MarkupText(text),
                  "</text>\n");
}

std::string SvgText::Finish(const std::string& css, const std::string& title) const {
  return absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
                      Coordinate(width_), " ", Coordinate(height_), "\" role=\"img\">\n<title>",
                      MarkupText(title), "</title>\n<style>\n", css, "</style>\n", shapes_,
                      "</svg>\n");
}

}  // namespace bspnow::client
