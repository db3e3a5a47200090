# What `make install` lays down besides the command: the model as a library that find_package(Faultline) finds.
include(CMakePackageConfigHelpers)

set(FAULTLINE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Faultline)

# faultline_install_room(NAME): the room's library, as Faultline::NAME, and its headers. For rooms of the model alone.
function(faultline_install_room name)
  set_target_properties(faultline_${name} PROPERTIES EXPORT_NAME ${name})
  get_target_property(type faultline_${name} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(scope INTERFACE)
  endif()
  # Headers name each other from the root of src/ ("base/page.h"); consumers name the umbrella (<faultline/model.h>).
  target_include_directories(faultline_${name} ${scope} $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/faultline>)
  target_compile_features(faultline_${name} ${scope} cxx_std_23)
  install(TARGETS faultline_${name} EXPORT FaultlineTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${name}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/faultline/${name}
          FILES_MATCHING PATTERN "*.h")
endfunction()

# faultline_install_package(): the CMake package, once every room of the model is installed.
function(faultline_install_package)
  install(FILES ${PROJECT_SOURCE_DIR}/src/model.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/faultline)
  install(EXPORT FaultlineTargets NAMESPACE Faultline:: DESTINATION ${FAULTLINE_PACKAGE_DIR})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/FaultlineConfig.cmake.in
                                ${PROJECT_BINARY_DIR}/FaultlineConfig.cmake INSTALL_DESTINATION ${FAULTLINE_PACKAGE_DIR})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/FaultlineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/FaultlineConfig.cmake ${PROJECT_BINARY_DIR}/FaultlineConfigVersion.cmake
          DESTINATION ${FAULTLINE_PACKAGE_DIR})
endfunction()

# faultline_install_command(): the command and the ready-made programs. The agent's room installs the agent.
function(faultline_install_command)
  if(TARGET faultline)
    install(TARGETS faultline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/programs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/faultline/programs
          FILES_MATCHING PATTERN "*.fl")
endfunction()
