#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace faultline::record {

/// A place in a program and the calls that led there.
using SiteIndex = std::uint32_t;
inline constexpr SiteIndex kNoSite = 0;

/// All sites of a recording: equal places of all its processes are one. An image is what a process executed, in which
/// addresses mean the same.
class SiteTable {
 public:
  struct Node {
    SiteIndex caller = kNoSite;
    std::uint32_t image = 0;
    std::uint64_t address = 0;
  };
  SiteIndex find(const Node& node);
  const Node& operator[](SiteIndex site) const { return nodes_[site - 1]; }
  std::size_t size() const { return nodes_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Node& node) const;
  };
  struct Equal {
    bool operator()(const Node& a, const Node& b) const {
      return a.caller == b.caller && a.image == b.image && a.address == b.address;
    }
  };
  std::vector<Node> nodes_;
  std::unordered_map<Node, SiteIndex, Hash, Equal> numbers_;
};

/// A process's numbers for sites. A fork shares what was there with its parent.
class SiteNumbers {
 public:
  /// False when `id` is not the next number.
  bool add(std::uint64_t id, SiteIndex site);
  /// Nothing for a number that the process has not given.
  std::optional<SiteIndex> find(std::uint64_t id) const;
  SiteNumbers fork();

 private:
  struct Shared {
    std::shared_ptr<const Shared> below;
    std::uint64_t first = 1;
    std::vector<SiteIndex> sites;
  };
  std::shared_ptr<const Shared> shared_;
  std::uint64_t first_ = 1;  // the number of own_'s first
  std::vector<SiteIndex> own_;
};

}  // namespace faultline::record
