#include "coordinator/web/http_request.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow::coordinator {
namespace {

HttpRequest Parsed(const std::string& bytes) {
  const auto parsed = ParseRequest(bytes);
  EXPECT_TRUE(std::holds_alternative<HttpRequest>(parsed)) << bytes;
  const auto* request = std::get_if<HttpRequest>(&parsed);
  return request == nullptr ? HttpRequest() : *request;
}

int RefusalOf(const std::string& bytes) {
  const auto parsed = ParseRequest(bytes);
  const auto* refused = std::get_if<BadRequest>(&parsed);
  return refused == nullptr ? 0 : refused->status;
}

TEST(HttpRequestTest, FindsPathQueryAndCookies) {
  const HttpRequest request = Parsed(
      "GET /events?job=7&x=y HTTP/1.1\r\nHost: a\r\nCookie: a=1; bc=2\r\ncookie: "
      "d=3=4\r\n\r\nmore");
  EXPECT_EQ(request.path, "/events");
  EXPECT_EQ(request.QueryValue("job"), "7");
  EXPECT_EQ(request.QueryValue("x"), "y");
  EXPECT_EQ(request.QueryValue("jo"), "");
  EXPECT_EQ(request.Cookie("a"), "1");
  EXPECT_EQ(request.Cookie("bc"), "2");
  EXPECT_EQ(request.Cookie("c"), "");
  EXPECT_EQ(request.Cookie("d"), "3=4");
}

TEST(HttpRequestTest, WaitsForTheWholeRequest) {
  const std::string whole = "GET / HTTP/1.1\r\nCookie: a=1\r\n\r\n";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_TRUE(std::holds_alternative<PartOfRequest>(ParseRequest(whole.substr(0, bytes))))
        << bytes;
  EXPECT_EQ(Parsed(whole).Cookie("a"), "1");
}

TEST(HttpRequestTest, PathIsWhatWasSent) {
  EXPECT_EQ(Parsed("GET /../etc/passwd HTTP/1.1\r\n\r\n").path, "/../etc/passwd");
  EXPECT_EQ(Parsed("GET /%2e%2e/x HTTP/1.1\r\n\r\n").path, "/%2e%2e/x");
}

TEST(HttpRequestTest, RefusesWhatIsNoGet) {
  EXPECT_EQ(RefusalOf("POST / HTTP/1.1\r\n\r\n"), 405);
  EXPECT_EQ(RefusalOf("GET /\r\n\r\n"), 400);
  EXPECT_EQ(RefusalOf("GET / HTTP/2\r\n\r\n"), 400);
  EXPECT_EQ(RefusalOf("GET http://a/ HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(RefusalOf("GET /\tx HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(RefusalOf("\r\n\r\n"), 400);
  EXPECT_EQ(RefusalOf("\x16\x03\x01\r\n\r\n"), 400);
}

TEST(HttpRequestTest, HasAnEnd) {
  const std::string begin = "GET / HTTP/1.1\r\nX: ";
  const std::size_t fill = kRequestBytesMax - begin.size() - 4;
  Parsed(begin + std::string(fill, 'a') + "\r\n\r\n");
  EXPECT_EQ(RefusalOf(begin + std::string(fill + 1, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(RefusalOf(std::string(kRequestBytesMax, 'a')), 431);
}

}  // namespace
}  // namespace bspnow::coordinator
