# SPDX-License-Identifier: MIT OR Apache-2.0
"""How the check-* scripts report: one line a test, and a line with the numbers at the end."""
import sys


class Report:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, problems):
        """`problems` is a list of sentences, empty if all is well."""
        if not problems:
            print(f"ok {name}")
            self.passed += 1
            return
        print(f"FAIL {name}: {problems[0]}")
        for more in problems[1:]:
            print(f"    {more}")
        self.failed += 1

    def skip(self, name, why):
        print(f"skip {name}: {why}")
        self.skipped += 1

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed else 0)
