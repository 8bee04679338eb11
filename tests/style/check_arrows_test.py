"""scripts/check-arrows finds each kind of forbidden arrow, planted in a made-up project."""

import unittest

from project import ROOT, ProjectTest

CMAKE = """
ringside_room(base USES fmt::fmt)
ringside_room(shard LINKS base USES PkgConfig::NETTLE)
ringside_room(tier LINKS base shard)
ringside_room(geo LINKS base)
ringside_room(metrics LINKS base)
ringside_room(http LINKS base)
ringside_room(net LINKS base)
ringside_room(hop LINKS base http net)
ringside_room(http1 LINKS base http net hop)
ringside_room(cache LINKS base shard tier geo metrics http net hop)
ringside_room(sidecar LINKS base shard tier geo metrics http net hop)  # not LINKS cache
"""


class Arrows(ProjectTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("CMakeLists.txt", CMAKE)
        self.write("base/error.h", "#pragma once\n#include <string>\n")
        self.write("sidecar/steps.cc", '#include "http/head.h"\n')
        self.write("tests/sidecar/any_test.cc", '#include "cache/store.h"\n')

    def check(self) -> tuple[int, str]:
        done = self.run_script(ROOT / "scripts/check-arrows", "--root", self.folder)
        return done.returncode, done.stdout

    def test_a_project_within_its_arrows_passes(self) -> None:
        self.assertEqual(self.check(), (0, ""))

    def test_each_planted_include_is_found(self) -> None:
        planted = [
            ("sidecar/a.cc", '#include "cache/store.h"', "no arrow sidecar -> cache"),
            ("sidecar/a.h", "  #  include <cache/store.h>", "no arrow sidecar -> cache"),
            ("cache/a.cc", '#include "sidecar/steps.h"', "no arrow cache -> sidecar"),
            ("base/a.cc", '#include "http/head.h"', "no arrow base -> http"),
            ("http/deep/a.cc", '#include "shard/ring.h"', "no arrow http -> shard"),
            ("k8s/a.cc", '#include "sidecar/steps.h"', "no arrow k8s -> sidecar"),
            ("cache/a.cc", '#include "tests/support/x.h"', "must not include"),
            ("cache/a.cc", '#include "../base/error.h"', "is relative"),
            ("cache/a.cc", '#include "store.h"', "no header of a room"),
            ("cache/a.cc", "#include STORE", "can't be followed"),
            ("cache/a.cc", "#include <maxminddb.h>", "belongs in geo/*"),
            ("cache/a.cc", "#include <prometheus/registry.h>", "belongs in metrics/*"),
            ("http1/server.cc", "#include <httplib.h>", "belongs in http1/admin_client.cc"),
            ("http1/a.cc", "#include <boost/asio/post.hpp>", "belongs in net/*.cc"),
            ("net/core.h", "#include <boost/asio/post.hpp>", "belongs in net/*.cc"),
            ("http/a.cc", "#include <yaml-cpp/yaml.h>", "belongs in program/*"),
            ("shard/a.cc", "#include <xxhash.h>", "belongs in base/*"),
            ("metrics/a.cc", "#include <boost/asio/ip/tcp.hpp>", "belongs in net/*.cc"),
            ("cache/a.cc", '#include "net/loop.h"', "belongs in net/*"),
            ("http/a.cc", "#include <thread>", "no I/O and no threads"),
            ("shard/a.cc", "#include <thread>", "no I/O, clock or threads"),
            ("shard/a.cc", '#include "base/clock.h"', "no I/O, clock or threads"),
            ("tier/a.cc", "#include <mutex>", "no I/O, clock or threads"),
            ("tier/a.cc", '#include "http/head.h"', "no arrow tier -> http"),
            ("shard/a.cc", '#include "tier/membership.h"', "no arrow shard -> tier"),
            ("attic/a.cc", "", "no room that scripts/check-arrows knows"),
        ]
        for path, line, expected in planted:
            with self.subTest(path=path, line=line):
                file = self.write(path, f"#include <string>\n{line}\n")
                code, said = self.check()
                file.unlink()
                self.assertEqual(code, 1)
                self.assertIn(path, said)
                self.assertIn(expected, said)

    def test_third_party_headers_at_home_pass(self) -> None:
        at_home = [
            ("geo/a.cc", "#include <maxminddb.h>"),
            ("http1/admin_client.cc", "#include <httplib.h>"),
            ("net/core.cc", "#include <boost/asio/post.hpp>"),
            ("net/loop.h", "#include <boost/asio/io_context.hpp>"),
            ("k8s/api_client.cc", "#include <httplib.h>"),
            ("program/main/a.cc", "#include <yaml-cpp/yaml.h>"),
            ("base/hash.cc", "#include <xxhash.h>"),
        ]
        for path, line in at_home:
            self.write(path, line + "\n")
        self.assertEqual(self.check(), (0, ""))

    def test_link_lines_that_differ_are_found(self) -> None:
        differences = [
            ("ringside_room(http LINKS base)", "ringside_room(http LINKS base geo)", "links geo"),
            ("ringside_room(geo LINKS base)", "ringside_room(geo)", "does not link base"),
            ("net hop)  #", "net hop\n cache USES x)  #", "sidecar links cache"),
            ("ringside_room(geo", "ringside_room(attic LINKS base)\nringside_room(geo", "attic"),
        ]
        for old, new, expected in differences:
            with self.subTest(new=new):
                self.assertEqual(CMAKE.count(old), 1)
                self.write("CMakeLists.txt", CMAKE.replace(old, new))
                code, said = self.check()
                self.assertEqual(code, 1)
                self.assertIn(expected, said)

    def test_a_project_without_rooms_does_not_pass(self) -> None:
        for path in ("base/error.h", "sidecar/steps.cc"):
            (self.folder / path).unlink()
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
