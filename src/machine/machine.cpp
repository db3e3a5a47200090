#include "machine/machine.h"

#include "machine/live.h"
#include "machine/model.h"
#include "machine/vm/vm.h"

namespace faultline::machine {

std::expected<std::unique_ptr<Machine>, std::string> make_machine(std::string_view name) {
  constexpr std::string_view kModel = "model:";
  if (name == "live") return make_live();
  if (name.starts_with(kModel)) {
    auto profile = mm::parse_profile(name.substr(kModel.size()));
    if (!profile) return std::unexpected(std::string(name) + ": " + profile.error());
    return make_model(std::move(*profile));
  }
  constexpr std::string_view kVm = "vm:";
  if (name.starts_with(kVm)) return vm::make_vm(name.substr(kVm.size()));
  return std::unexpected("\"" + std::string(name) +
                         "\" is no machine; expected live, model:VERSION or vm:VERSION, such as model:6.12");
}

}  // namespace faultline::machine
