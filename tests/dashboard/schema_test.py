"""The dashboard against Grafana's own types of one (npm @grafana/schema, pinned), by TypeScript.

There is no JSON schema of a dashboard. Its types are written out beside our values and the compiler
compares them, which finds fields that are misspelt, of another type, or not there in that version.
What the types leave open (queries, which belong to the data source's plugin) is tried in
dashboard_test.py.
"""

import copy
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from grafana import Dashboard
from ringside import BUILD, ROOT, is_sanitized

HERE = ROOT / "tests" / "dashboard" / "schema"
REMEDY = (
    "The types are fetched by npm as tests/dashboard/schema/package-lock.json says. Look whether `npm"
    " ci` works there (npm on the PATH, a registry that can be reached) and run the test again."
)
# Enumerations of texts take no texts in TypeScript: `Plain` makes of them the texts that they are.
HEAD = """\
import type * as raw from '@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen';
import type * as stat from
  '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as timeseries from
  '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

type Plain<T> = T extends string ? `${T}`
  : T extends (infer Element)[] ? Plain<Element>[]
  : T extends object ? { [Key in keyof T]: Plain<T[Key]> }
  : T;
type Custom = { stat: never, timeseries: timeseries.FieldConfig };
// Its events' queries are the data source's.
type Annotation = raw.AnnotationQuery & Record<'expr' | 'step' | 'tagKeys' | 'textFormat'
  | 'titleFormat', string>;

"""


def source(dashboard: dict) -> str:
    """A program that is right where the dashboard is."""
    dashboard = copy.deepcopy(dashboard)
    lines = []

    def value(kind: str, what) -> None:
        lines.append(f"export const v{len(lines)}: Plain<{kind}> = {json.dumps(what)};\n")

    for panel in dashboard.pop("panels"):
        if panel["type"] == "row":
            value("raw.RowPanel", panel)
            continue
        kind = panel["type"]
        value(f"{kind}.Options", panel["options"])
        if "custom" in panel["fieldConfig"]["defaults"]:
            value(f"Custom['{kind}']", panel["fieldConfig"]["defaults"]["custom"])
        value("raw.Panel", panel)
    for annotation in dashboard.pop("annotations")["list"]:
        value("raw.AnnotationQuery" if annotation.get("builtIn") else "Annotation", annotation)
    value("raw.Dashboard", dashboard)
    return HEAD + "".join(lines)


@unittest.skipIf(is_sanitized(), "what is tested is no code of ours but a file")
class TheTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = installed()

    def complaints(self, dashboard: dict) -> str:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            file = pathlib.Path(folder) / "dashboard.ts"
            file.write_text(source(dashboard), encoding="utf-8")
            done = subprocess.run(
                [
                    "node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict",
                    "--target", "es2022", "--module", "esnext", "--moduleResolution", "node10",
                    "--skipLibCheck", file,
                ],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                timeout=200, check=False,
            )  # fmt: skip
        self.assertIn(done.returncode, (0, 1, 2), done.stdout)
        return done.stdout

    def test_grafana_knows_every_field(self):
        self.assertEqual(self.complaints(Dashboard().json), "")

    def test_what_grafana_does_not_know_is_told(self):
        dashboard = Dashboard().json
        _, stat, *_, graph = dashboard["panels"]
        stat["options"]["colourMode"] = "value"
        stat["fieldConfig"]["defaults"]["thresholds"]["mode"] = "absolut"
        graph["fieldConfig"]["defaults"]["custom"]["lineWidth"] = "1"
        graph["gridPos"].pop("w")
        dashboard["annotations"]["list"][1]["tagKey"] = "id"
        dashboard["refersh"] = "10s"
        said = self.complaints(dashboard)
        for wrong in ("colourMode", "absolut", "'string' is not assignable to type 'number'",
                      "Property 'w' is missing", "tagKey", "refersh"):  # fmt: skip
            self.assertIn(wrong, said)


def installed() -> pathlib.Path:
    """The folder of types and compiler; fetched where the lock file is not the one it has."""
    folder = BUILD / "dashboard"
    lock, stamp = HERE / "package-lock.json", folder / "installed"
    if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
        folder.mkdir(exist_ok=True)
        stamp.unlink(missing_ok=True)
        for file in (HERE / "package.json", lock):
            shutil.copy(file, folder)
        try:
            subprocess.run(
                ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                cwd=folder, check=True, timeout=200, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise AssertionError(f"{error}. {REMEDY}") from error
        shutil.copy(lock, stamp)
    return folder


if __name__ == "__main__":
    unittest.main()
