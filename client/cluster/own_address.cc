#include "client/cluster/own_address.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include <memory>
#include <set>

namespace bspnow::client {
namespace {

// Its bytes, without port and scope; empty if it is neither IPv4 nor IPv6.
std::string BytesOf(const sockaddr* address) {
  if (address == nullptr) return "";
  const char* const raw = reinterpret_cast<const char*>(address);
  if (address->sa_family == AF_INET)
    return {raw + offsetof(sockaddr_in, sin_addr), sizeof(in_addr)};
  if (address->sa_family == AF_INET6)
    return {raw + offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr)};
  return "";
}

std::set<std::string> OwnAddresses() {
  std::set<std::string> own;
  ifaddrs* listed = nullptr;
  if (getifaddrs(&listed) != 0) return own;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(listed, freeifaddrs);
  for (const ifaddrs* each = listed; each != nullptr; each = each->ifa_next)
    own.insert(BytesOf(each->ifa_addr));
  own.erase("");
  return own;
}

}  // namespace

bool IsThisMachine(const std::string& host) {
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  const std::set<std::string> own = OwnAddresses();
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
    if (own.contains(BytesOf(each->ai_addr))) return true;
  return false;
}

}  // namespace bspnow::client
