#include "report/style.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace faultline::report {

Colour colour_for(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return Colour::off;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return Colour::off;
  return isatty(descriptor) == 1 ? Colour::on : Colour::off;
}

}  // namespace faultline::report
