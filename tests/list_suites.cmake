# cmake -D PROGRAM=FILE -D PREFIX=TEXT -D RESULTS=FOLDER -D LIST=FILE -P list_suites.cmake
#
# Writes a file for ctest, with one test for each suite of a GoogleTest program. Each leaves its own
# report in RESULTS, by which scripts/tally counts the tests in it.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} does not list its tests: ${status}")
endif()

string(REGEX MATCHALL "(^|\n)[^ \n]+\\.( |\n)" suites "${listed}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} lists no suite")
endif()
set(script "")
foreach(suite ${suites})
  string(STRIP "${suite}" suite)
  string(REGEX REPLACE "\\.$" "" suite "${suite}")
  string(REPLACE "/" "." report ${PREFIX}${suite})
  set(name ${PREFIX}${suite}.*) # by which scripts/tally knows that it leaves a report
  string(APPEND script "add_test([==[${name}]==] ${PROGRAM} \"--gtest_filter=${suite}.*\" --gtest_brief=1 "
                       "\"--gtest_output=xml:${RESULTS}/${report}.xml\")\n"
                       "set_tests_properties([==[${name}]==] PROPERTIES TIMEOUT 300 LABELS unit)\n")
endforeach()
file(WRITE ${LIST} "${script}")
