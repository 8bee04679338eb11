#include "k8s/kubernetes_discovery.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "k8s/assembly.h"
#include "k8s/contact.h"
#include "k8s/debounce.h"
#include "k8s/reflector.h"

namespace ringside::k8s {
namespace {

using Slices = std::map<std::string, EndpointSlice>;

constexpr std::string_view slice_group = "/apis/discovery.k8s.io";

// Where EndpointSlices are: in the version that the server prefers. Who may not ask for that is
// taken to have v1, which every server since Kubernetes 1.21 has.
Outcome<std::string> locate_slices(ApiClient& client, const std::string& name_space) {
  std::string version = "v1";
  const auto group = client.get(std::string(slice_group), {"get", "discovery.k8s.io", ""});
  if (group) {
    auto known = endpoint_slice_version(*group);
    if (!known) return known.error();
    version = std::move(*known);
  } else if (group.error().reason != FailureReason::forbidden) {
    return group.error();
  }
  return fmt::format("{}/{}/namespaces/{}/endpointslices", slice_group, version,
                     query_value(name_space));
}

Reflector::Resource set_resource(const Target& target) {
  auto collection =
      fmt::format("/apis/apps/v1/namespaces/{}/statefulsets", query_value(target.name_space));
  return {[collection](ApiClient&) -> Outcome<std::string> { return collection; },
          "fieldSelector=" + query_value("metadata.name=" + target.stateful_set),
          "statefulsets.apps", target.name_space};
}

Reflector::Resource slices_resource(const Target& target, const std::string& service) {
  return {[name_space = target.name_space](ApiClient& client) {
            return locate_slices(client, name_space);
          },
          "labelSelector=" + query_value("kubernetes.io/service-name=" + service),
          "endpointslices.discovery.k8s.io", target.name_space};
}

std::string words_of_set(const Target& target) {
  return fmt::format("StatefulSet {}/{}", target.name_space, target.stateful_set);
}
std::string words_of_slices(const Target& target, const std::string& service) {
  return fmt::format("EndpointSlices of service {}/{}", target.name_space, service);
}

class KubernetesDiscovery final : public Discovery {
 public:
  KubernetesDiscovery(const Target& target, const Access& access, const Clock& clock,
                      Follower follower, const Pace& pace);
  ~KubernetesDiscovery() override;

  [[nodiscard]] DiscoveryFigures figures() const override;
  void read_again() override;
  [[nodiscard]] std::string_view source() const noexcept override { return "kubernetes"; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] Reflector::Reports reports_to(Contact& contact, std::function<void()> changed);
  void set_changed();
  void follow_slices();
  void follow_service(const std::string& service, Lock& lock);
  void publish_news();
  void publish(Lock& lock);
  void judge(const Outcome<Assembled>& assembled);  // the lock is held
  void log_change(const std::string& before, const std::string& after) const;
  [[nodiscard]] std::string words() const;  // the lock is held

  const Target target_;
  const Access access_;
  const Clock& clock_;
  const Follower follower_;
  const Pace pace_;

  StatefulSetReflection set_reflection_;  // the set's thread alone
  Reflector set_reflector_;

  mutable std::mutex mutex_;       // of all below
  std::condition_variable moved_;  // there are news, the service is another, or it is over
  bool over_ = false;
  std::optional<StatefulSet> set_;
  std::shared_ptr<const Slices> slices_;  // of the set's service; null: not known
  Reflector* slices_reflector_ = nullptr;
  Contact set_contact_;
  Contact slices_contact_;
  Debounce debounce_;
  std::optional<Roster> told_;
  std::optional<Failure> wrong_;  // what the last assembling failed with
  std::string doubt_;
  std::uint64_t rosters_ = 0;
  std::uint64_t read_again_ = 0;
  std::array<std::uint64_t, failure_reasons.size()> assembly_failures_{};

  std::thread set_thread_;
  std::thread slices_thread_;
  std::thread publisher_;
};

template <class Run>
std::thread named_thread(const char* name, Run run) {
  return std::thread([name, run = std::move(run)] {
    ::pthread_setname_np(::pthread_self(), name);
    run();
  });
}

KubernetesDiscovery::KubernetesDiscovery(const Target& target, const Access& access,
                                         const Clock& clock, Follower follower, const Pace& pace)
    : target_(target),
      access_(access),
      clock_(clock),
      follower_(std::move(follower)),
      pace_(pace),
      set_reflection_(target.stateful_set),
      set_reflector_(access, pace, set_resource(target), set_reflection_,
                     reports_to(set_contact_, [this] { set_changed(); })),
      set_contact_(words_of_set(target)),
      slices_contact_("EndpointSlices"),
      debounce_(pace.settle, pace.delay_most) {
  set_thread_ = named_thread("k8s-set", [this] { set_reflector_.run(); });
  slices_thread_ = named_thread("k8s-slices", [this] { follow_slices(); });
  publisher_ = named_thread("k8s-publish", [this] { publish_news(); });
}

KubernetesDiscovery::~KubernetesDiscovery() {
  set_reflector_.stop();
  {
    const Lock lock(mutex_);
    over_ = true;
    if (slices_reflector_ != nullptr) slices_reflector_->stop();
    moved_.notify_all();
  }
  set_thread_.join();
  slices_thread_.join();
  publisher_.join();
}

void KubernetesDiscovery::read_again() {
  set_reflector_.watch_again();
  const Lock lock(mutex_);
  if (slices_reflector_ != nullptr) slices_reflector_->watch_again();
  ++read_again_;
}

Reflector::Reports KubernetesDiscovery::reports_to(Contact& contact,
                                                   std::function<void()> changed) {
  // Logging may block: not under the lock.
  const auto heard = [this, &contact](bool proves) {
    Lock lock(mutex_);
    const auto line = contact.heard(clock_.now(), proves);
    lock.unlock();
    if (line) log::write(log::Level::info, *line);
  };
  const auto failed = [this, &contact](const Failure& failure, bool is_trouble) {
    Lock lock(mutex_);
    const auto line = contact.failed(failure, is_trouble);
    lock.unlock();
    if (line) log::write(log::Level::warning, *line);
  };
  return {heard, failed, std::move(changed)};
}

void KubernetesDiscovery::set_changed() {
  const Lock lock(mutex_);
  const bool is_renamed = set_ && set_->service != set_reflection_.value()->service;
  set_ = set_reflection_.value();
  if (is_renamed) {
    slices_.reset();
    if (slices_reflector_ != nullptr) slices_reflector_->stop();
  }
  debounce_.news(clock_.steady_now());
  moved_.notify_all();
}

void KubernetesDiscovery::follow_slices() {
  Lock lock(mutex_);
  while (true) {
    moved_.wait(lock, [this] { return over_ || set_; });
    if (over_) return;
    follow_service(std::string(set_->service), lock);
  }
}

// Until the service is another one, or all is over.
void KubernetesDiscovery::follow_service(const std::string& service, Lock& lock) {
  EndpointSliceReflection reflection;
  const auto changed = [this, &reflection, &service] {
    auto slices = std::make_shared<const Slices>(reflection.values());
    const Lock inner(mutex_);
    if (set_->service != service) return;
    slices_ = std::move(slices);
    debounce_.news(clock_.steady_now());
    moved_.notify_all();
  };
  slices_contact_.start_over(words_of_slices(target_, service));
  Reflector reflector(access_, pace_, slices_resource(target_, service), reflection,
                      reports_to(slices_contact_, changed));
  slices_reflector_ = &reflector;
  lock.unlock();
  reflector.run();
  lock.lock();
  slices_reflector_ = nullptr;
}

void KubernetesDiscovery::publish_news() {
  Lock lock(mutex_);
  while (!over_) {
    const auto due = debounce_.due();
    const auto now = clock_.steady_now();
    if (!due) {
      moved_.wait(lock);
    } else if (now < *due) {
      moved_.wait_for(lock, *due - now);
    } else {
      debounce_.published();
      if (set_ && slices_) publish(lock);
    }
  }
}

// The follower is called without the lock.
void KubernetesDiscovery::publish(Lock& lock) {
  const StatefulSet set = *set_;
  const auto slices = slices_;
  lock.unlock();
  const auto assembled = assemble(set, *slices, target_);
  lock.lock();
  const std::string before = wrong_ ? wrong_->message : doubt_;
  judge(assembled);
  const std::string after = wrong_ ? wrong_->message : doubt_;
  const bool is_news = assembled && assembled->roster != told_ && !over_;
  lock.unlock();
  log_change(before, after);
  if (is_news) follower_(assembled->roster);
  lock.lock();
  if (!is_news) return;
  told_ = assembled->roster;  // not before: what figures() tells is in use
  ++rosters_;
}

void KubernetesDiscovery::judge(const Outcome<Assembled>& assembled) {
  wrong_.reset();
  doubt_.clear();
  if (assembled) {
    doubt_ = assembled->doubt;
  } else {
    wrong_ = assembled.error();
    ++assembly_failures_[static_cast<std::size_t>(wrong_->reason)];
  }
}

// What can't be assembled, or seems wrong, is logged when it is another than before.
void KubernetesDiscovery::log_change(const std::string& before, const std::string& after) const {
  if (after == before) return;
  if (after.empty()) {
    log::info("Kubernetes: {}: all is well again", words_of_set(target_));
  } else {
    log::warning("Kubernetes: {}: {}", words_of_set(target_), after);
  }
}

std::string KubernetesDiscovery::words() const {
  std::vector<std::string> parts;
  for (const Contact* contact : {&set_contact_, &slices_contact_}) {
    if (!contact->failure()) continue;
    parts.push_back(fmt::format("{}: {}", contact->what(), contact->failure()->message));
  }
  if (wrong_) parts.push_back(wrong_->message);
  if (!doubt_.empty()) parts.push_back(doubt_);
  if (!set_) {
    if (parts.empty()) parts.push_back(words_of_set(target_) + " is not known yet");
    return fmt::format("{}", fmt::join(parts, "; "));
  }
  if (!slices_ && !slices_contact_.failure()) {
    parts.push_back(words_of_slices(target_, set_->service) + " are not known yet");
  }
  std::size_t ready = 0;
  if (told_) {
    ready = static_cast<std::size_t>(
        std::count_if(told_->replicas.begin(), told_->replicas.end(),
                      [](const Replica& replica) { return replica.ready; }));
  }
  parts.push_back(
      fmt::format("{}, generation {}, {} replicas, {} ready, service {}; resource version {}",
                  words_of_set(target_), set_->generation, set_->replicas, ready, set_->service,
                  set_->resource_version));
  return fmt::format("{}", fmt::join(parts, "; "));
}

DiscoveryFigures KubernetesDiscovery::figures() const {
  const Lock lock(mutex_);
  DiscoveryFigures figures;
  figures.in_touch = set_contact_.in_touch() && slices_contact_.in_touch();
  const auto& of_set = set_contact_.last_answer();
  const auto& of_slices = slices_contact_.last_answer();
  if (of_set && of_slices) figures.last_answer = std::min(*of_set, *of_slices);
  figures.words = words();
  figures.rosters = rosters_;
  figures.read_again = read_again_;
  for (const FailureReason reason : failure_reasons) {
    const auto at = static_cast<std::size_t>(reason);
    figures.failures[at] =
        set_contact_.failures(reason) + slices_contact_.failures(reason) + assembly_failures_[at];
  }
  return figures;
}

}  // namespace

std::unique_ptr<Discovery> watch_kubernetes(const Target& target, const Access& access,
                                            const Clock& clock, Discovery::Follower follower,
                                            const Pace& pace) {
  return std::make_unique<KubernetesDiscovery>(target, access, clock, std::move(follower), pace);
}

}  // namespace ringside::k8s
