#include "program/scope.h"

namespace faultline::program {

void Scopes::close() {
  for (const std::string_view name : defined_.back()) {
    const auto found = bindings_.find(name);
    found->second.pop_back();
    if (found->second.empty()) bindings_.erase(found);
  }
  defined_.pop_back();
}

const Binding* Scopes::find(std::string_view name) const {
  const auto found = bindings_.find(name);
  return found == bindings_.end() ? nullptr : &found->second.back();
}

const Binding* Scopes::find_here(std::string_view name) const {
  const Binding* binding = find(name);
  return binding != nullptr && binding->scope + 1 == defined_.size() ? binding : nullptr;
}

Slot Scopes::define(std::string_view name, NameKind kind, std::uint32_t line) {
  const Slot slot{static_cast<std::uint32_t>(slots_.size())};
  slots_.emplace_back(name);
  bindings_[name].push_back({slot, kind, defined_.size() - 1, line});
  defined_.back().push_back(name);
  return slot;
}

void Scopes::offer_all(Nearest& nearest) const {
  for (const auto& [name, bindings] : bindings_) nearest.offer(name);
}

}  // namespace faultline::program
