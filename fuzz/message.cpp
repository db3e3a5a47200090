// What host and agent say to each other: any bytes are a message or none, and what is taken for a message can be used.
#include "run/message.h"

#include <cstdint>
#include <string>

#include "holds.h"
#include "program/printer.h"
#include "run/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(run::parse_frame_header(bytes.substr(0, run::kFrameHeader)));
  if (const auto request = run::decode_request(bytes)) {
    // Walks every node, and lays out a row for every statement.
    static_cast<void>(program::print(request->program));
    static_cast<void>(run::make_plan(request->program));
    const std::string sent =
        run::encode_request(request->machine, request->program, request->params, request->time_limit_ms);
    const auto again = run::decode_request(sent);
    fuzz::holds(again.has_value(), "what is sent is taken for a request");
    fuzz::holds(run::encode_request(again->machine, again->program, again->params, again->time_limit_ms) == sent,
                "a request arrives as it was sent");
  }
  if (const auto report = run::decode_report(bytes)) {
    const std::string sent = run::encode(*report);
    const auto again = run::decode_report(sent);
    fuzz::holds(again.has_value(), "what is sent is taken for a report");
    fuzz::holds(run::encode(*again) == sent, "a report arrives as it was sent");
  }
  return 0;
}
