#include "report/policy_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "mm/address_space.h"
#include "record/policy.h"
#include "report/format.h"

namespace faultline::report {
namespace {

/// The VMAs before a statement of the process itself.
class VmasBefore : public run::StepListener, public mm::Observer {
 public:
  explicit VmasBefore(const program::Statement& statement) : statement_(statement) {}
  void begin(const run::Step& step) override { there_ = step.process == 0 && step.statement == &statement_; }
  void end(const run::Step& /*step*/, const run::StepOutcome& /*outcome*/) override { there_ = false; }
  void on(const mm::Event& /*event*/) override {}
  void before(const mm::AddressSpace& space) override {
    if (!there_ || !ranges_.empty()) return;
    space.for_each_vma({Addr{0}, Addr{~std::uint64_t{0}}}, [&](const mm::Vma& vma) { ranges_.push_back(vma.range()); });
  }
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  const program::Statement& statement_;
  bool there_ = false;
  std::vector<Range> ranges_;
};

class Matrix {
 public:
  Matrix(const Subject& subject, const PolicyOptions& options) : subject_(subject), options_(options) {
    // The usual run, too, has to survive what fails in it.
    const record::Restricted usual = record::under_policy(program(), record::Policy::sealed);
    matrix_.usual = run(subject_.profile, subject_.settings, usual, Endings());
  }

  PolicyMatrix take() && {
    matrix_.policies.push_back(sealed());
    matrix_.policies.push_back(restricted("MDWE", record::Policy::mdwe, subject_.profile.mdwe == mm::Mdwe::present,
                                          "PR_MDWE_REFUSE_EXEC_GAIN from the start"));
    matrix_.policies.push_back(
        restricted("W^X", record::Policy::write_xor_exec, true, "nothing that asks for writing and executing at once"));
    matrix_.policies.push_back(exec_only());
    for (const std::uint64_t limit : limits()) matrix_.policies.push_back(limited(limit));
    matrix_.policies.push_back(restricted("guards", record::Policy::guards,
                                          subject_.profile.guards == mm::Guards::present,
                                          "MADV_GUARD_INSTALL for mprotect(PROT_NONE)"));
    return std::move(matrix_);
  }

 private:
  const program::Program& program() const { return subject_.recorded().program; }

  PolicyFigures run(const mm::Profile& profile, const machine::Settings& settings, const record::Restricted& restricted,
                    const Endings& usual) {
    PolicyStudy study(subject_.recording, subject_.symbols, usual, restricted.refused);
    machine::explain(profile, restricted.program, settings, study, study);
    return study.figures();
  }

  PolicyColumn impossible(std::string name, std::string why) { return {std::move(name), std::move(why), false, {}}; }

  PolicyColumn restricted(std::string name, record::Policy policy, bool known, std::string note) {
    if (!known) return impossible(std::move(name), "not in Linux " + subject_.profile.version);
    return {std::move(name), std::move(note), true,
            run(subject_.profile, subject_.settings, record::under_policy(program(), policy), matrix_.usual.endings)};
  }

  PolicyColumn sealed() {
    if (subject_.profile.seal == mm::Seal::absent) {
      return impossible("sealed", "no mseal in Linux " + subject_.profile.version);
    }
    const auto at = options_.sealed_after
                        ? record::first_after_calls(subject_.recording, subject_.process, *options_.sealed_after)
                        : record::first_after_loading(subject_.recording, subject_.process);
    if (!at) {
      return impossible("sealed", options_.sealed_after ? "the process makes no more calls than that"
                                                        : "no text of the program itself is executed");
    }
    VmasBefore vmas(program().body[*at]);
    machine::explain(subject_.profile, program(), subject_.settings, vmas, vmas);
    const auto calls = std::count_if(program().body.begin(), program().body.begin() + static_cast<std::ptrdiff_t>(*at),
                                     [&](const program::Statement& statement) {
                                       const record::Origin* origin = origin_of(subject_.recording, statement);
                                       return origin != nullptr && origin->is_call;
                                     });
    return {"sealed",
            fmt::format("all {} after call {}{}", plural(vmas.ranges().size(), "VMA", "VMAs"),
                        thousands(static_cast<std::uint64_t>(calls)),
                        options_.sealed_after ? "" : ", as the program's own text is first executed"),
            true,
            run(subject_.profile, subject_.settings, record::sealed_before(program(), *at, vmas.ranges()),
                matrix_.usual.endings)};
  }

  PolicyColumn exec_only() {
    mm::Profile profile = subject_.profile;
    const bool by_key = profile.arch == arch::Arch::x86_64;
    if (by_key) {
      profile.pkeys = mm::Pkeys::present;
    } else {
      profile.exec_only = mm::ExecOnly::epan;
    }
    return {"exec-only",
            fmt::format("PROT_EXEC for PROT_READ|PROT_EXEC, by {}", by_key ? "a protection key" : "FEAT_EPAN"), true,
            run(profile, subject_.settings, record::under_policy(program(), record::Policy::exec_only),
                matrix_.usual.endings)};
  }

  std::vector<std::uint64_t> limits() const {
    if (!options_.map_limits.empty()) return options_.map_limits;
    return {mm::Tunables().max_map_count, std::max<std::uint64_t>(matrix_.usual.most_vmas / 2, 1)};
  }

  PolicyColumn limited(std::uint64_t limit) {
    machine::Settings settings = subject_.settings;
    settings.tunables.max_map_count = limit;
    return {fmt::format("limit {}", limit), "vm.max_map_count", true,
            run(subject_.profile, settings, record::under_policy(program(), record::Policy::sealed),
                matrix_.usual.endings)};
  }

  const Subject& subject_;
  const PolicyOptions& options_;
  PolicyMatrix matrix_;
};

std::uint64_t sum(const PolicyFigures& figures, std::uint64_t RefusalFigures::* of) {
  std::uint64_t total = 0;
  for (const auto& [refusal, counted] : figures.refusals) total += counted.*of;
  return total;
}

}  // namespace

PolicyMatrix policy_matrix(const Subject& subject, const PolicyOptions& options) {
  return Matrix(subject, options).take();
}

Table policy_overview(const PolicyMatrix& matrix) {
  Table table{{{"policy", "policy"},
               {"fails", "fails", Align::right},
               {"fails_later", "then", Align::right},
               {"most_vmas", "VMAs at most", Align::right},
               {"faults", "faults", Align::right},
               {"pages_dropped", "dropped", Align::right},
               {"pages_missed", "missed", Align::right},
               {"note", "what"}},
              {}};
  const auto add = [&](const std::string& name, const PolicyFigures& figures, const std::string& note) {
    table.rows.push_back({name, sum(figures, &RefusalFigures::times), sum(figures, &RefusalFigures::later),
                          figures.most_vmas, figures.faults, figures.dropped, figures.missed, note});
  };
  add("none", matrix.usual, "as recorded");
  for (const PolicyColumn& policy : matrix.policies) {
    if (policy.possible) {
      add(policy.name, policy.figures, policy.note);
    } else {
      table.rows.push_back({policy.name, {}, {}, {}, {}, {}, {}, policy.note});
    }
  }
  return table;
}

Table policy_cells(const PolicyMatrix& matrix) {
  using Row = std::pair<std::string, std::string>;  // what, site
  std::map<Row, std::map<std::string, std::string>> cells;
  std::map<Row, std::uint64_t> weight;
  Table table{{{"", "call or access"}, {"", "site"}}, {}};
  for (const PolicyColumn& policy : matrix.policies) {
    if (policy.figures.refusals.empty()) continue;
    table.columns.push_back({"", policy.name});
    for (const auto& [refusal, figures] : policy.figures.refusals) {
      if (figures.times == 0) continue;
      const Row row{refusal.what, refusal.site};
      std::string& cell = cells[row][policy.name];
      cell += fmt::format("{}{} ×{}", cell.empty() ? "" : ", ", refusal.ending, thousands(figures.times));
      weight[row] += figures.times;
    }
  }
  std::vector<Row> order;
  for (const auto& [row, by_policy] : cells) order.push_back(row);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](const Row& row) { return weight[row]; });
  for (const Row& row : order) {
    std::vector<TableCell> line{row.first, row.second};
    for (std::size_t i = 2; i < table.columns.size(); ++i) {
      const auto cell = cells[row].find(table.columns[i].heading);
      line.emplace_back(cell == cells[row].end() ? "ok" : cell->second);
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

Table policy_refusals(const PolicyMatrix& matrix) {
  Table table{{{"policy", ""}, {"operation", ""}, {"site", ""}, {"ending", ""}, {"times", ""}, {"later", ""}}, {}};
  for (const PolicyColumn& policy : matrix.policies) {
    for (const auto& [refusal, figures] : policy.figures.refusals) {
      table.rows.push_back({policy.name, refusal.what, refusal.site, refusal.ending, figures.times, figures.later});
    }
  }
  return table;
}

}  // namespace faultline::report
