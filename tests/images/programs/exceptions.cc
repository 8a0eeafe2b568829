// C++: exceptions across barriers, streams with unwritten output, thread-local objects, virtual
// calls, containers and what the standard library allocates behind the scenes.
#include <bsp.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual double Area() const = 0;
};
struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double Area() const override { return side * side; }
  double side;
};
struct Circle : Shape {
  explicit Circle(double radius) : radius(radius) {}
  double Area() const override { return 3.14159265358979 * radius * radius; }
  double radius;
};

thread_local std::string local_text = "thread-local";
thread_local int local_count = 5;

void ThrowDeep(int depth) {
  const std::string frame(static_cast<std::size_t>(depth), 'x');
  if (depth == 0) {
    bsp_sync();
    throw std::runtime_error("from below");
  }
  ThrowDeep(depth - 1);
}

}  // namespace

int main() {
  bsp_begin(bsp_nprocs());
  std::map<std::string, std::vector<std::unique_ptr<Shape>>> shapes;
  std::ofstream file("lines.txt");
  std::istringstream numbers("1 2 3 4 5 6 7 8 9");
  for (int step = 0; step < 4; ++step) {
    try {
      ThrowDeep(50);
    } catch (const std::exception& error) {
      bsp_sync();  // With the exception still alive.
      std::cout << step << ": caught " << error.what() << ", " << std::uncaught_exceptions()
                << std::endl;
      try {
        throw;
      } catch (const std::runtime_error& again) {
        std::cout << "again " << again.what() << "\n";
      }
    }
    for (int i = 0; i < 100; ++i) {
      auto& list = shapes["list " + std::to_string(i % 7)];
      if (i % 2 != 0) {
        list.push_back(std::make_unique<Square>(i * 0.5));
      } else {
        list.push_back(std::make_unique<Circle>(i * 0.25));
      }
    }
    local_text += std::to_string(++local_count);
    file << "step " << step << std::setprecision(12) << 1.0 / (step + 3) << "\n";
    int number = 0;
    numbers >> number;
    std::cout << "read " << number << ", " << local_text << "\n";
    bsp_sync();
    double sum = 0;
    for (const auto& [name, list] : shapes)
      for (const auto& shape : list) sum += shape->Area();
    std::cout << std::fixed << std::setprecision(9) << sum << "\n";
    const bool matches =
        std::regex_search(local_text, std::regex("local6.*" + std::to_string(number + 5)));
    std::cout << "regex " << matches << "\n";
  }
  file.close();
  std::ifstream back("lines.txt");
  std::cout << back.rdbuf();
  bsp_end();
}
