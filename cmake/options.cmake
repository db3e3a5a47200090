# What every target is compiled with.
add_library(faultline_options INTERFACE)
target_compile_options(faultline_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(FAULTLINE_WERROR)
  target_compile_options(faultline_options INTERFACE -Werror)
endif()
if(FAULTLINE_SANITIZE)
  target_compile_options(faultline_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(faultline_options INTERFACE -fsanitize=address,undefined)
endif()

# faultline_room(NAME [LIBRARIES …]): the static library of one folder under src/, built from every .cpp in it.
function(faultline_room name)
  cmake_parse_arguments(ROOM "" "" "LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(faultline_${name} STATIC ${sources})
  target_include_directories(faultline_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(faultline_${name} PUBLIC ${ROOM_LIBRARIES} PRIVATE $<BUILD_INTERFACE:faultline_options>)
endfunction()

# faultline_test(NAME [LIBRARIES …]): one GoogleTest program from every .cpp of the current folder.
function(faultline_test name)
  cmake_parse_arguments(TEST "" "" "LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE ${TEST_LIBRARIES} faultline_options GTest::gtest_main)
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}: " DISCOVERY_TIMEOUT 120)
endfunction()
