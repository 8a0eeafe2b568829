// certs: init, issue, rotate, revoke.
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include "base/clock.h"
#include "client/commands.h"
#include "client/view/job_json.h"
#include "files/whole_number.h"
#include "net/tls/authority.h"
#include "net/tls/revocations.h"

namespace bspnow::client {
namespace {

constexpr std::int64_t kMsPerSecond = 1'000;
constexpr std::uint32_t kAuthorityDays = 3650;
constexpr std::uint32_t kCertificateDays = 365;
constexpr std::uint32_t kDaysMax = 36'500;

/// The options of all four.
struct CertsOptions {
  std::string directory;  ///< Of the CA; to rotate, of the certificate.
  std::string authority;  ///< To rotate.
  std::string out;
  std::string role;
  std::string name;
  std::string user;
  std::vector<std::string> hosts;
  std::uint32_t days = 0;
  bool json = false;
};

std::int64_t NowUnixSeconds() { return UnixMs() / kMsPerSecond; }

nlohmann::json CertificateJson(const std::string& directory, const CertificateFacts& facts) {
  nlohmann::json json = {{"directory", directory},
                         {"begins_unix_ms", facts.begins_unix_s * kMsPerSecond},
                         {"ends_unix_ms", facts.ends_unix_s * kMsPerSecond}};
  if (!facts.identity) return json;
  json["role"] = RoleName(facts.identity->role);
  json["name"] = facts.identity->name;
  json["user"] = nlohmann::json();
  if (!facts.identity->user.empty()) json["user"] = facts.identity->user;
  json["hosts"] = facts.hosts;
  return json;
}

std::string CertificateLine(const std::string& directory, const CertificateFacts& facts) {
  const std::string until = absl::StrCat("until ", TimeText(facts.ends_unix_s), "\n");
  if (!facts.identity) return absl::StrCat(directory, ": CA, ", until);
  const CertificateIdentity& identity = *facts.identity;
  std::string line = absl::StrCat(directory, ": ", RoleName(identity.role), " ", identity.name);
  if (!identity.user.empty()) absl::StrAppend(&line, ", user ", identity.user);
  if (!facts.hosts.empty()) absl::StrAppend(&line, ", for ", absl::StrJoin(facts.hosts, " "));
  return absl::StrCat(line, ", ", until);
}

absl::StatusOr<int> Print(const CertsOptions& options, const std::string& directory,
                          const absl::StatusOr<CertificateFacts>& made) {
  if (!made.ok()) return made.status();
  std::cout << (options.json ? JsonText(CertificateJson(directory, *made))
                             : CertificateLine(directory, *made));
  return 0;
}

absl::StatusOr<int> Init(const CertsOptions& options) {
  return Print(options, options.directory,
               CertificateAuthority::Init(options.directory, options.days, NowUnixSeconds()));
}

absl::StatusOr<int> Issue(const CertsOptions& options) {
  const absl::StatusOr<CertificateAuthority> authority =
      CertificateAuthority::Open(options.directory, NowUnixSeconds());
  if (!authority.ok()) return authority.status();
  const CertificateRequest request{
      .identity = {.role = *ParseRole(options.role), .name = options.name, .user = options.user},
      .hosts = options.hosts,
      .days = options.days};
  return Print(options, options.out, authority->Issue(request, options.out));
}

absl::StatusOr<int> Rotate(const CertsOptions& options) {
  const absl::StatusOr<CertificateAuthority> authority =
      CertificateAuthority::Open(options.authority, NowUnixSeconds());
  if (!authority.ok()) return authority.status();
  return Print(options, options.directory, authority->Rotate(options.directory, options.days));
}

absl::StatusOr<int> Revoke(const CertsOptions& options) {
  const absl::StatusOr<CertificateAuthority> authority =
      CertificateAuthority::Open(options.directory, NowUnixSeconds());
  if (!authority.ok()) return authority.status();
  if (absl::Status s = authority->Revoke(*ParseRole(options.role), options.name); !s.ok()) return s;
  const std::string path = absl::StrCat(options.directory, "/", kRevokedFile);
  if (options.json) {
    std::cout << JsonText({{"role", options.role}, {"name", options.name}, {"file", path}});
    return 0;
  }
  std::cout << absl::StrCat("revoked what ", options.role, " ", options.name,
                            " was issued so far; copy ", path,
                            " into the --tls directories of the coordinator, the workers and the "
                            "clients\n");
  return 0;
}

void AddIdentityOptions(CLI::App& command, CertsOptions& options) {
  command.add_option("--role", options.role, "Whose it is: coordinator, worker, client or admin")
      ->check(CLI::IsMember({"coordinator", "worker", "client", "admin"}))
      ->type_name("ROLE")
      ->required();
  command.add_option("--name", options.name, "Of the node, or of the client or administrator")
      ->type_name("NAME")
      ->required();
}

void AddDaysOption(CLI::App& command, CertsOptions& options, std::uint32_t usual) {
  options.days = usual;
  command.add_option("--days", options.days, "For how long it is valid")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(1u, kDaysMax))
      ->type_name("N")
      ->default_str(usual == 0 ? "as before" : std::to_string(usual));
}

void AddIssueOptions(CLI::App& issue, CertsOptions& options) {
  AddIdentityOptions(issue, options);
  issue
      .add_option("--host", options.hosts,
                  "A name or address by which others connect to a coordinator or worker; may be "
                  "repeated")
      ->type_name("HOST")
      ->allow_extra_args(false);
  issue
      .add_option("--user", options.user, "In whose name a client or admin comes [that of --name]")
      ->type_name("USER");
  issue.add_option("--out", options.out, "Where tls.crt, tls.key and ca.crt are to be")
      ->type_name("DIR")
      ->required();
}

}  // namespace

void AddCertsCommand(CommandLine& line) {
  CLI::App* const certs =
      line.app.add_subcommand("certs", "Make the certificates of a cluster with TLS");
  certs->require_subcommand(1);
  certs->footer("`bsp certs COMMAND --help` says more of each; see also bsp(1).");
  using Perform = absl::StatusOr<int> (*)(const CertsOptions&);
  const auto add = [&](const std::string& name, const std::string& text,
                       const std::string& what_dir, Perform perform) {
    const auto options = std::make_shared<CertsOptions>();
    CLI::App* const command = certs->add_subcommand(name, text);
    command->footer("See bsp(1).");
    command->add_option("DIR", options->directory, what_dir)->required();
    command->add_flag("--json", options->json, kJsonText);
    SetAction(line, command, [options, perform] { return perform(*options); });
    return std::make_pair(command, options);
  };
  const auto [init, made] =
      add("init", "Make a certificate authority", "Its directory, made by this", Init);
  AddDaysOption(*init, *made, kAuthorityDays);
  const auto [issue, issued] =
      add("issue", "Issue a certificate", "The directory of the authority", Issue);
  AddDaysOption(*issue, *issued, kCertificateDays);
  AddIssueOptions(*issue, *issued);
  const auto [revoke, revoked] = add("revoke", "Make what somebody was issued so far worth nothing",
                                     "The directory of the authority", Revoke);
  AddIdentityOptions(*revoke, *revoked);
  const auto [rotate, rotated] = add("rotate", "Issue a certificate anew, with another key",
                                     "Where tls.crt and tls.key are", Rotate);
  AddDaysOption(*rotate, *rotated, 0);
  rotate->add_option("--ca", rotated->authority, "The directory of its authority")
      ->type_name("DIR")
      ->required();
}

}  // namespace bspnow::client
