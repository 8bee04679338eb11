"""The kustomizations are in words that Kustomize neither lacks nor warns of."""

import re
import unittest

from old_kustomize import in_old_words
from rendering import FOLDERS, KUBERNETES, judged

# What Kustomize has known since 2.1 and version 5 does not warn of.
KUSTOMIZATION_FIELDS = {
    "apiVersion", "kind", "namespace", "resources", "images", "configMapGenerator",
    "generatorOptions",
}  # fmt: skip


class Kustomization(unittest.TestCase):
    def test_every_kustomize_knows_all_fields_and_none_is_deprecated(self):
        recipe = (KUBERNETES.parent / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"project\(ringside VERSION (\S+)", recipe)[1]
        for folder in FOLDERS:
            with self.subTest(folder):
                path = KUBERNETES / folder / "kustomization.yaml"
                (result,) = judged(path.read_text(encoding="utf-8"))
                fields = result["document"]
                self.assertLessEqual(set(fields), KUSTOMIZATION_FIELDS)
                for image in fields.get("images", []):
                    self.assertEqual(image["newTag"], version)
                for resource in fields["resources"]:
                    self.assertTrue((path.parent / resource).exists(), resource)

    def test_an_old_kustomize_is_told_in_its_words(self):
        today = "a: b\nresources:\n  - ../base\n  - a.yaml\npatches:\n  - path: b.yaml\nimages: []\n"
        of_old = "a: b\nbases:\n  - ../base\nresources:\n  - a.yaml\npatchesStrategicMerge:\n  - b.yaml\nimages: []\n"
        self.assertEqual(in_old_words(today), of_old)
        for same in ("resources:\n  - a.yaml\n", of_old):
            self.assertEqual(in_old_words(same), same)


if __name__ == "__main__":
    unittest.main()
