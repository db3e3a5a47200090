# cmake -DBUILD=… -DPREFIX=… -DLIBDIR=… -P install.cmake: installs into an empty prefix, and looks for what must be there.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

foreach(file
        bin/faultline
        libexec/faultline/faultline-agent
        share/faultline/programs/mprotect-cycle.fl
        include/faultline/model.h
        include/faultline/base/page.h
        include/faultline/arch/arch.h
        include/faultline/mm/address_space.h
        ${LIBDIR}/libfaultline_mm.a
        ${LIBDIR}/cmake/Faultline/FaultlineConfig.cmake
        ${LIBDIR}/cmake/Faultline/FaultlineConfigVersion.cmake)
  if(NOT EXISTS ${PREFIX}/${file})
    message(SEND_ERROR "not installed: ${file}")
  endif()
endforeach()
