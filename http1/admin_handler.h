#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "hop/handler.h"
#include "http/target.h"
#include "http1/admin_crowd.h"
#include "http1/admin_server.h"
#include "http1/admin_workers.h"

namespace ringside::http {

// What an admin server's connections share. But for the workers only the core's thread looks at it
// once the server has started.
struct AdminSite {
  struct Route {
    AdminServer::Handler handler;
    bool quick = false;
  };
  using Methods = std::map<std::string, Route, std::less<>>;

  std::map<std::string, Methods, std::less<>> routes;  // by path
  AdminAccess access;
  AdminWorkers workers;
  AdminCrowd crowd;
  std::size_t bodies_bytes = 0;  // of requests in hand
};

// What an admin server makes of one connection's requests.
class AdminHandler final : public hop::Handler {
 public:
  AdminHandler(AdminSite& site, Connection& client)
      : site_(site), client_(client), visitor_(site.crowd.enter(client)) {}
  ~AdminHandler() override { site_.crowd.leave(visitor_); }
  AdminHandler(const AdminHandler&) = delete;
  AdminHandler& operator=(const AdminHandler&) = delete;

  void begin(const IpAddress& from) override;
  [[nodiscard]] std::uint32_t requests_per_connection() const override;
  [[nodiscard]] Task<void> answer(RequestHead& request, Caller& caller,
                                  Response& response) override;
  void refuse(const Error& error, Response& response) override;
  void sent(const hop::Sent& sent) override;
  [[nodiscard]] hop::AccessNotes access_notes() const override { return {}; }

 private:
  // One request and its answer.
  struct Turn {
    Target target;
    std::string body;
    const AdminSite::Route* route = nullptr;  // null: answered already
    AdminServer::Answer answer;
    // One field that the answer has beside the usual ones; empty: none.
    std::string_view field_name;
    std::string field_value;
  };

  // Everything that can be said before the body is there.
  void judge(const RequestHead& request, Turn& turn) const;
  void find_route(const RequestHead& request, Turn& turn) const;
  Task<void> read_body(Turn& turn);
  Task<void> call(Turn& turn);
  void give(Turn& turn, Response& response);

  AdminSite& site_;
  Connection& client_;
  const AdminCrowd::Position visitor_;
};

}  // namespace ringside::http
