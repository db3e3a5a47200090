#pragma once

#include "machine/machine.h"
#include "mm/profile.h"
#include "record/import.h"
#include "record/symbols.h"

namespace faultline::report {

/// What is asked about: one process of a recording, on one model.
struct Subject {
  const record::Import& recording;
  std::size_t process = 0;  // its index
  const mm::Profile& profile;
  const machine::Settings& settings;
  record::Symbols& symbols;

  const record::RecordedProcess& recorded() const { return recording.processes[process]; }
};

}  // namespace faultline::report
