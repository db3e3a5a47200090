#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "check/draw.h"
#include "check/vocabulary.h"

namespace faultline::check {

/// An argument of a call, and how a reproducer spells it if not as a number.
struct Argument {
  std::uint64_t value = 0;
  std::string_view name{};
};
inline constexpr Argument kNoDescriptor{~std::uint64_t{0}, "-1"};
/// A process's first descriptor.
inline constexpr std::uint64_t kFirstFile = 3;

/// What a program is mostly about: rare states are reached where the same things happen again and again.
enum class Theme : std::uint8_t { anonymous, watched, files, limits, huge };

/// Draws one program, operation by operation.
class Drawer {
 public:
  Drawer(Random& random, Atomics atomics);
  Drawn program(unsigned operations);

 private:
  void operation(std::size_t most, unsigned depth);
  void access();
  /// Mostly one that the last call was about.
  std::uint64_t page();
  void family(std::size_t most, unsigned depth);
  /// As many mappings as are allowed, less a few.
  void fill();

  void map();
  void protect();
  /// Nearly all there are, or all, of which the kernel may want one for itself.
  void take_keys();
  /// Of few keys, so that most are allocated; never of key 0, which the memory of the machine's agent has, too.
  void key_call();
  void advise();
  void lock();
  /// What looks at memory, or writes into it, in the kernel.
  void look();
  /// In place, to a place in the arena, or to one of the kernel's choice.
  void remap();
  /// A limit of nothing at all: two words of 0 stand in any page that nobody wrote there.
  void limit(std::size_t most);
  /// Soft and hard, written to a page that holds nothing there yet: of a few pages, one byte of each is not 0. Then a
  /// lock that fits, and often a growth that does not.
  void lower_memlock();

  void make_file();
  std::uint64_t descriptor() { return random_.one_in(12) ? kFirstFile + 1 : kFirstFile; }
  std::uint64_t file_size() {
    return random_.below(10) * kPageSize + (random_.one_in(3) ? random_.below(kPageSize) : 0);
  }
  void file_call(std::size_t most);
  /// What a seal keeps out shows in mappings made before it, and in those made after it.
  void seal_file(std::size_t most);
  /// From or to a few bytes, mostly about the end of a page.
  void transfer(program::Sys sys);

  /// Of the first two calls one goes well on every kernel, and of the next two, if more is asked for than there is.
  void make_watcher();
  void request(std::string_view name, std::vector<Argument> fields);
  void enable(Argument features) { request("UFFDIO_API", {{random_.one_in(40) ? 0U : 0xaaU}, features}); }
  void watch(Argument mode);
  std::vector<Argument> watched_range();
  void watcher_range(std::string_view name, std::initializer_list<Argument> more);
  void watcher_call();

  Operation& add(run::StepKind kind);
  void call(program::Sys sys, const std::vector<Argument>& arguments);
  void with(std::vector<Argument> range, program::Sys sys, std::initializer_list<Argument> more);
  /// An address and a length: mostly whole pages of the arena.
  std::vector<Argument> range();
  std::vector<Argument> fresh_range();
  /// One of the arena's huge pages, or both.
  std::vector<Argument> huge_range();
  static Argument named(const Named& named) { return {named.value, named.name}; }
  static Argument at(std::uint64_t page) { return {kArenaStart.value + page * kPageSize}; }

  Random& random_;
  Atomics atomics_;
  Theme theme_{};
  /// Fetches are drawn, and then no contents but code and zeroes: all else would do something when executed.
  bool executes_ = false;
  bool fills_ = false;
  /// RLIMIT_MEMLOCK is set to a few pages.
  bool lowers_memlock_ = false;
  bool shares_ = false;  // memory is shared in it
  bool keyed_ = false;
  std::uint64_t pages_ = 0;
  Drawn drawn_;
  std::vector<Argument> last_;
  std::vector<Argument> registered_;
  std::vector<std::uint8_t> living_;
  std::uint8_t children_ = 0;
};

}  // namespace faultline::check
