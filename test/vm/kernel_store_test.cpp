// The kernels that were kept.
#include "machine/vm/kernel_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace faultline::machine::vm {
namespace {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    cache_ = std::filesystem::path(testing::TempDir()) / ("faultline-store-" + std::to_string(getpid()));
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(cache_);
    before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  static StoredKernel add(const KernelStore& store, std::string_view name, std::string_view version) {
    const KernelName named = KernelName::parse(name);
    const auto added = store.add(named, {"bytes of " + std::string(name), named.arch, std::string(version)}, "a test");
    EXPECT_TRUE(added.has_value());
    return added.value_or(StoredKernel{});
  }

  std::filesystem::path cache_;
  std::string before_;
};

TEST_F(StoreTest, FindsTheNewestOfASeries) {
  const auto store = KernelStore::open();
  ASSERT_TRUE(store);
  add(*store, "6.12.9", "6.12.9");
  add(*store, "6.12.117", "6.12.117");
  add(*store, "6.1.176", "6.1.176");
  add(*store, "arm64/6.12.200", "6.12.200");
  EXPECT_EQ(store->find(KernelName::parse("6.12"))->version, "6.12.117");
  EXPECT_EQ(store->find(KernelName::parse("6.12.9"))->version, "6.12.9");
  EXPECT_EQ(store->find(KernelName::parse("arm64/6.12"))->version, "6.12.200");
  EXPECT_EQ(store->list().size(), 4U);
}

TEST_F(StoreTest, FindsAKernelByTheNameThatItWasGiven) {
  const auto store = KernelStore::open();
  ASSERT_TRUE(store);
  add(*store, "patched", "6.18.0");
  EXPECT_EQ(store->find(KernelName::parse("patched"))->version, "6.18.0");
  EXPECT_EQ(store->find(KernelName::parse("6.18"))->name.name, "patched");
}

TEST_F(StoreTest, SaysHowToGetWhatIsMissing) {
  const auto store = KernelStore::open();
  ASSERT_TRUE(store);
  const auto missing = store->find(KernelName::parse("arm64/6.12"));
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().contains("faultline kernel fetch arm64/6.12")) << missing.error();
}

TEST_F(StoreTest, ForgetsARemovedKernel) {
  const auto store = KernelStore::open();
  ASSERT_TRUE(store);
  const StoredKernel kernel = add(*store, "6.1.176", "6.1.176");
  EXPECT_TRUE(store->remove(kernel).has_value());
  EXPECT_TRUE(store->list().empty());
}

TEST_F(StoreTest, KeepsOutNamesThatLeaveTheFolderAndArchitecturesThatDoNotFit) {
  const auto store = KernelStore::open();
  ASSERT_TRUE(store);
  const KernelImage image{"bytes", arch::Arch::x86_64, ""};
  EXPECT_FALSE(store->add({arch::Arch::x86_64, "../up"}, image, "").has_value());
  EXPECT_FALSE(store->add({arch::Arch::x86_64, ""}, image, "").has_value());
  EXPECT_FALSE(store->add({arch::Arch::arm64, "mine"}, image, "").has_value());
}

}  // namespace
}  // namespace faultline::machine::vm
