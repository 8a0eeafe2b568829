// The text of an SVG picture: shapes and words, with what must be escaped. Colours are classes, of
// which the style sheet knows a light and a dark form.
#ifndef CLIENT_PROFILE_SVG_TEXT_H_
#define CLIENT_PROFILE_SVG_TEXT_H_

#include <string>

namespace bspnow::client {

/// For text between tags, and for attributes in quotes. Control characters become blanks, and what
/// is no UTF-8 a question mark.
std::string MarkupText(const std::string& text);

struct Box {
  double x;
  double y;
  double width;
  double height;
};

/// Numbers with as many digits as can be seen.
std::string Coordinate(double value);

class SvgText {
 public:
  SvgText(double width, double height) : width_(width), height_(height) {}

  void Rect(const Box& box, const std::string& css_class);
  /// With words that a browser shows under the pointer.
  void Area(const Box& box, const std::string& words);
  void Line(double x1, double y1, double x2, double y2, const std::string& css_class);
  void Path(const std::string& commands, const std::string& css_class);
  void Dot(double x, double y, const std::string& css_class);
  enum class Anchor { kStart, kMiddle, kEnd };
  void Text(double x, double y, Anchor anchor, const std::string& text,
            const std::string& css_class = "");

  /// All of it. `css` is the style of the classes.
  std::string Finish(const std::string& css, const std::string& title) const;

 private:
  const double width_;
  const double height_;
  std::string shapes_;
};

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_SVG_TEXT_H_
