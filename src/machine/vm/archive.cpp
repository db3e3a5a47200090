#include "machine/vm/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <functional>
#include <memory>

namespace faultline::machine::vm {
namespace {

struct CloseReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct CloseWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Reader = std::unique_ptr<archive, CloseReader>;
using Writer = std::unique_ptr<archive, CloseWriter>;
using Entry = std::unique_ptr<archive_entry, FreeEntry>;

std::string reason(archive* handle, std::string_view otherwise) {
  const char* text = archive_error_string(handle);
  return text != nullptr ? text : std::string(otherwise);
}

std::expected<std::string, std::string> content(archive* reader) {
  std::string data;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const la_ssize_t got = archive_read_data(reader, buffer.data(), buffer.size());
    if (got < 0) return std::unexpected(reason(reader, "cannot be unpacked"));
    if (got == 0) return data;
    data.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// The first member that `wanted` accepts by name.
std::expected<std::string, std::string> member(std::string_view data, void (*formats)(archive*),
                                               const std::function<bool(std::string_view)>& wanted,
                                               std::string_view missing) {
  const Reader reader(archive_read_new());
  archive_read_support_filter_all(reader.get());
  formats(reader.get());
  if (archive_read_open_memory(reader.get(), data.data(), data.size()) != ARCHIVE_OK) {
    return std::unexpected(reason(reader.get(), "is not an archive"));
  }
  archive_entry* entry = nullptr;
  int found = ARCHIVE_OK;
  while ((found = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const char* name = archive_entry_pathname(entry);
    if (name != nullptr && wanted(name)) return content(reader.get());
  }
  if (found != ARCHIVE_EOF) return std::unexpected(reason(reader.get(), "is damaged"));
  return std::unexpected(std::string(missing));
}

struct NewFile {
  const char* name;
  unsigned mode;
  std::string_view content = {};
};

bool add(archive* writer, const NewFile& file) {
  const Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), file.name);
  archive_entry_set_mode(entry.get(), file.mode);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.content.size()));
  if (S_ISCHR(file.mode)) archive_entry_set_rdev(entry.get(), makedev(5, 1));
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK) return false;
  return archive_write_data(writer, file.content.data(), file.content.size()) ==
         static_cast<la_ssize_t>(file.content.size());
}

}  // namespace

std::expected<std::string, std::string> kernel_in_package(std::string_view package) {
  const auto files = member(
      package, [](archive* reader) { archive_read_support_format_ar(reader); },
      [](std::string_view name) { return name.starts_with("data.tar"); }, "is not a Debian package");
  if (!files) return std::unexpected(files.error());
  return member(
      *files, [](archive* reader) { archive_read_support_format_tar(reader); },
      [](std::string_view name) { return name.contains("boot/vmlinuz-") || name.ends_with("/vmlinuz"); },
      "is a Debian package without a kernel (a file named vmlinuz)");
}

std::expected<std::string, std::string> decompress(std::string_view data) {
  return member(
      data, [](archive* reader) { archive_read_support_format_raw(reader); }, [](std::string_view) { return true; },
      "is empty");
}

std::expected<std::string, std::string> make_initrd(std::string_view init) {
  const Writer writer(archive_write_new());
  archive_write_set_format_cpio_newc(writer.get());
  std::string initrd;
  const auto append = [](archive*, void* into, const void* bytes, std::size_t count) -> la_ssize_t {
    static_cast<std::string*>(into)->append(static_cast<const char*>(bytes), count);
    return static_cast<la_ssize_t>(count);
  };
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  bool good = archive_write_open(writer.get(), &initrd, nullptr, append, nullptr) == ARCHIVE_OK;
  good = good && add(writer.get(), {"dev", S_IFDIR | 0755}) && add(writer.get(), {"dev/console", S_IFCHR | 0600}) &&
         add(writer.get(), {"proc", S_IFDIR | 0755}) && add(writer.get(), {"sys", S_IFDIR | 0755}) &&
         add(writer.get(), {"init", S_IFREG | 0755, init});
  good = good && archive_write_close(writer.get()) == ARCHIVE_OK;
  if (!good) return std::unexpected(reason(writer.get(), "the initial file system cannot be written"));
  return initrd;
}

}  // namespace faultline::machine::vm
