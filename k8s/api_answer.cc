#include "k8s/api_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "k8s/api_json.h"
#include "k8s/api_status.h"

namespace ringside::k8s {
namespace {

// What the body says; where it is no Status, its message is how the body begins.
Status status_of(int code, std::string_view body) {
  Status status;
  ApiJson json(body);
  if (json.root().at("kind").text() == "Status") status = read_status(json.root());
  if (json.failure() || status.message.empty()) status.message = body;
  // What a proxy made of the answer may differ; the status line is what this hop was told.
  status.code = static_cast<std::uint64_t>(code);
  return status;
}

// In what the server says of a missing right: `User "NAME" cannot list resource …`.
std::string_view user_of(std::string_view message) {
  constexpr std::string_view before = "User \"";
  const auto found = message.find(before);
  if (found == std::string_view::npos) return {};
  message.remove_prefix(found + before.size());
  const auto end = message.find('"');
  return end == std::string_view::npos ? std::string_view() : message.substr(0, end);
}

std::string forbidden(const Status& status, const Question& question, std::string_view origin) {
  const std::string what = fmt::format("may not {} {} in namespace {}", question.verb,
                                       question.resource, question.name_space);
  const std::string_view user = user_of(status.message);
  if (user == "system:anonymous") {
    return fmt::format(
        "{}, for the API server was given nothing to know us by: give a token or a "
        "client certificate ({})",
        what, origin);
  }
  if (user.empty()) {
    return fmt::format("{} (with {}): give its user a Role with {}; the server says: {}", what,
                       origin, question.rights, excerpt(status.message));
  }
  return fmt::format("{} (as {}): give the {} a Role with {}", what, excerpt(user),
                     user.starts_with("system:serviceaccount:") ? "ServiceAccount" : "user",
                     question.rights);
}

std::string words_for(FailureReason reason, const Status& status, const Question& question,
                      std::string_view origin) {
  const std::string asked =
      fmt::format("{} {} in namespace {}", question.verb, question.resource, question.name_space);
  const std::string said = excerpt(status.message);
  const auto answered = [&](std::string_view remedy) {
    return fmt::format("cannot {}: the API server answered {}{}{}; {}", asked, status.code,
                       said.empty() ? "" : ": ", said, remedy);
  };
  switch (reason) {
    case FailureReason::forbidden:
      return forbidden(status, question, origin);
    case FailureReason::unauthorized:
      return answered(
          fmt::format("it does not believe the token or certificate of {}: has it "
                      "expired, and is it of this cluster?",
                      origin));
    case FailureReason::not_found:
      return answered(
          "is this the API server's address, has the cluster that API group (apps/v1, "
          "discovery.k8s.io), and is there such a namespace?");
    case FailureReason::throttled:
      return answered("it has too much to do, and is asked again later");
    case FailureReason::gone:
      return answered("it cannot go on from that resource version, and everything is listed again");
    default:
      return answered(status.code >= 500 ? "it is asked again"
                                         : "is this a Kubernetes API server's address, with "
                                           "nothing before it that answers itself?");
  }
}

}  // namespace

Failure failure_of(int status, std::string_view retry_after, std::string_view body,
                   const Question& question, std::string_view access_origin) {
  Status said = status_of(status, body);
  if (const auto wait = read_retry_after(retry_after)) said.retry_after = wait;
  const FailureReason reason = reason_of(said);
  return Failure{reason, words_for(reason, said, question, access_origin), said.retry_after,
                 status};
}

Outcome<std::string> endpoint_slice_version(std::string_view group_document) {
  constexpr std::array<std::string_view, 2> known{"v1", "v1beta1"};  // the best first
  ApiJson json(group_document);
  const ApiField root = json.root();
  std::vector<std::string> offered{root.at("preferredVersion").at("version").text()};
  for (const ApiField& version : root.at("versions").elements()) {
    offered.push_back(version.at("version").text());
  }
  if (json.failure()) return *json.failure();
  const auto is_known = [&](std::string_view version) {
    return std::find(known.begin(), known.end(), version) != known.end();
  };
  if (is_known(offered.front())) return offered.front();
  for (const std::string_view version : known) {
    if (std::find(offered.begin(), offered.end(), version) != offered.end()) {
      return std::string(version);
    }
  }
  return Failure{FailureReason::not_found,
                 "the API server has neither v1 nor v1beta1 of discovery.k8s.io, where the "
                 "addresses of pods are: Kubernetes 1.17 or newer is needed",
                 std::nullopt};
}

}  // namespace ringside::k8s
