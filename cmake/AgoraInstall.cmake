# What `cmake --install` and the .deb hold: program, library, headers, package files, completion,
# manual page, documentation and examples.
include(CMakePackageConfigHelpers)
install(TARGETS agora EXPORT agoraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS agora_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/agora DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT agoraTargets NAMESPACE agora:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/agora)
configure_package_config_file(cmake/agoraConfig.cmake.in ${PROJECT_BINARY_DIR}/agoraConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/agora)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/agoraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/agoraConfig.cmake ${PROJECT_BINARY_DIR}/agoraConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/agora)
file(RELATIVE_PATH AGORA_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/agora.pc.in ${PROJECT_BINARY_DIR}/agora.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/agora.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/build/assets/plotly.min.js
        DESTINATION ${CMAKE_INSTALL_DATADIR}/agora OPTIONAL)
install(PROGRAMS scripts/get-procgen DESTINATION ${CMAKE_INSTALL_DATADIR}/agora)
install(DIRECTORY experiments/results DESTINATION ${CMAKE_INSTALL_DATADIR}/agora OPTIONAL
        FILES_MATCHING PATTERN *.json)

install(FILES ${PROJECT_BINARY_DIR}/agora-completion.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME agora)
install(FILES ${PROJECT_BINARY_DIR}/agora.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME agora)
set(CPACK_PACKAGE_CONTACT "The Agora maintainers <maintainers@agora.example>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
