# The Debian package, which scripts/package makes: what `cmake --install` gives, below /usr, and what
# is Debian's alone.
set(debian ${CMAKE_CURRENT_LIST_DIR})
install(FILES ${debian}/ringside@.service DESTINATION /lib/systemd/system
        COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${debian}/up.yaml DESTINATION /etc/ringside COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${debian}/logrotate DESTINATION /etc/logrotate.d RENAME ringside
        COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${debian}/copyright DESTINATION /usr/share/doc/ringside
        COMPONENT debian EXCLUDE_FROM_ALL)
# Man pages and completions, where scripts/package has them written.
install(DIRECTORY ${PROJECT_BINARY_DIR}/manuals/ DESTINATION /usr/share
        COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};ringside;ALL;/"
                                 "${PROJECT_BINARY_DIR};ringside;debian;/")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The authors of Ringside")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Sharded HTTP cache that runs beside an application
 Ringside stands in front of an HTTP application and answers what it may from
 memory. Several cache replicas share the work: each URL, with the country of
 the client, belongs to one of them, and replicas come and go without a dip of
 the hit rate. This package runs a whole tier on one machine (ringside@up), or
 a part of a larger one (ringside@sidecar, ringside@cache).")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION web)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/conffiles ${debian}/postinst ${debian}/prerm
                                       ${debian}/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
