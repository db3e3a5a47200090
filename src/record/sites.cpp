#include "record/sites.h"

namespace faultline::record {

std::size_t SiteTable::Hash::operator()(const Node& node) const {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>((node.address ^ std::uint64_t{node.caller} << 40U ^ node.image) * kSpread >> 13U);
}

SiteIndex SiteTable::find(const Node& node) {
  const auto [found, is_new] = numbers_.try_emplace(node, static_cast<SiteIndex>(nodes_.size() + 1));
  if (is_new) nodes_.push_back(node);
  return found->second;
}

bool SiteNumbers::add(std::uint64_t id, SiteIndex site) {
  if (id != first_ + own_.size()) return false;
  own_.push_back(site);
  return true;
}

std::optional<SiteIndex> SiteNumbers::find(std::uint64_t id) const {
  if (id == 0) return kNoSite;
  if (id >= first_) {
    if (id - first_ >= own_.size()) return std::nullopt;
    return own_[id - first_];
  }
  for (const Shared* part = shared_.get(); part != nullptr; part = part->below.get()) {
    if (id >= part->first) return part->sites[id - part->first];
  }
  return std::nullopt;
}

SiteNumbers SiteNumbers::fork() {
  if (!own_.empty()) {
    auto shared = std::make_shared<Shared>();
    shared->below = std::move(shared_);
    shared->first = first_;
    first_ += own_.size();
    shared->sites = std::move(own_);
    own_.clear();
    shared_ = std::move(shared);
  }
  SiteNumbers child;
  child.shared_ = shared_;
  child.first_ = first_;
  return child;
}

}  // namespace faultline::record
