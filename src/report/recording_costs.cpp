#include "report/recording_costs.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace faultline::report {
namespace {

using record::SiteIndex;
using record::Symbols;

constexpr std::array<std::string_view, 3> kWeightNames{"faults", "ptes", "flushes"};

/// Is what an access costs its line's own, or its callee's?
enum class Accesses : std::uint8_t { are_lines, are_functions };

std::uint64_t weighed(const PlaceFigures& figures, Weight weight) {
  switch (weight) {
    case Weight::faults:
      return figures.faults;
    case Weight::ptes:
      return figures.ptes;
    case Weight::flushes:
      return figures.flushes;
  }
  return 0;
}

bool is_access(std::string_view operation) {
  constexpr std::array kTouches{record::Touch::load, record::Touch::store, record::Touch::atomic, record::Touch::fetch};
  return std::ranges::any_of(kTouches, [&](record::Touch touch) { return touch_name(touch) == operation; });
}

class Tree {
 public:
  Tree(const RecordingReport& report, Symbols& symbols) : report_(report), symbols_(symbols) {}

  std::vector<CostNode> make(Weight weight, Accesses accesses) {
    for (const auto& [place, figures] : report_.figures.places) {
      const std::uint64_t cost = weighed(figures, weight);
      if (cost == 0) continue;
      const std::uint32_t at =
          place.site == record::kNoSite ? CostNode::kNoParent : node_of(place.site, Symbols::Is::place);
      for (std::uint32_t i = at; i != CostNode::kNoParent; i = nodes_[i].parent) nodes_[i].calls += figures.executions;
      if (at != CostNode::kNoParent && accesses == Accesses::are_lines && is_access(place.operation)) {
        nodes_[at].cost += cost;
        continue;
      }
      CostNode leaf{at, std::string(place.operation)};
      leaf.object = "kernel";
      leaf.cost = cost;
      leaf.calls = figures.executions;
      nodes_.push_back(std::move(leaf));
    }
    return std::move(nodes_);
  }

 private:
  std::uint32_t node_of(SiteIndex site, Symbols::Is is) {
    if (const auto known = places_.find({site, is}); known != places_.end()) return known->second;
    const SiteIndex caller = report_.recording.sites[site].caller;
    CostNode node;
    if (caller != record::kNoSite) node.parent = node_of(caller, Symbols::Is::call);
    const record::SiteFrame& frame = symbols_.frame(site, is);
    node.function = frame.function;
    node.file = frame.file;
    node.object = frame.object.empty() ? "unknown" : frame.object;
    node.line = frame.line;
    nodes_.push_back(std::move(node));
    return places_[{site, is}] = static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  const RecordingReport& report_;
  Symbols& symbols_;
  std::vector<CostNode> nodes_;
  std::map<std::pair<SiteIndex, Symbols::Is>, std::uint32_t> places_;
};

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

CallgrindHead head_of(const RecordingReport& report, Weight weight) {
  CallgrindHead head{report.process.path + " on " + report.run.machine, "", ""};
  switch (weight) {
    case Weight::faults:
      head.event = "Faults";
      head.description = "page faults";
      break;
    case Weight::ptes:
      head.event = "Ptes";
      head.description = "page table entries changed";
      break;
    case Weight::flushes:
      head.event = "Flushes";
      head.description = "TLB flushes";
      break;
  }
  return head;
}

}  // namespace

std::optional<Weight> weight_named(std::string_view name) {
  const auto* found = std::ranges::find(kWeightNames, name);
  if (found == kWeightNames.end()) return std::nullopt;
  return static_cast<Weight>(found - kWeightNames.begin());
}

std::string recording_folded(const RecordingReport& report, record::Symbols& symbols, Weight weight) {
  return folded(Tree(report, symbols).make(weight, Accesses::are_functions), base_name(report.process.path));
}

std::string recording_callgrind(const RecordingReport& report, record::Symbols& symbols, Weight weight) {
  return callgrind(Tree(report, symbols).make(weight, Accesses::are_lines), head_of(report, weight));
}

}  // namespace faultline::report
