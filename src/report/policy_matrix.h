#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/policy_study.h"
#include "report/subject.h"
#include "report/table.h"

namespace faultline::report {

struct PolicyOptions {
  std::optional<std::uint64_t> sealed_after;  // memory calls; without it when the dynamic loader has done its work
  std::vector<std::uint64_t> map_limits;      // of vm.max_map_count; empty: 65,530, and half of what is needed
};

/// A recording under one policy.
struct PolicyColumn {
  std::string name;  // "sealed", "limit 500"
  std::string note;  // what was done, or why it could not be
  bool possible = true;
  PolicyFigures figures;
};

/// A recording without a policy, and under each.
struct PolicyMatrix {
  PolicyFigures usual;
  std::vector<PolicyColumn> policies;
};

/// Runs the recording once for each policy. Nothing stops a run: what fails is noted, and what comes behind it is done
/// all the same.
PolicyMatrix policy_matrix(const Subject& subject, const PolicyOptions& options);

/// A row for each policy: what fails, and what it is good for.
Table policy_overview(const PolicyMatrix& matrix);
/// For readers: a row for each call site or access that fails under any policy, a column for each policy.
Table policy_cells(const PolicyMatrix& matrix);
/// The same for data: a row for each policy and what fails under it.
Table policy_refusals(const PolicyMatrix& matrix);

}  // namespace faultline::report
