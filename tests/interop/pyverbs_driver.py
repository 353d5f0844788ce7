# SPDX-License-Identifier: BSD-2-Clause
"""Runs inside the folder of rdma-core's tests, unmodified: one line of JSON for each test that begins and for each that ended.

    python3 pyverbs_driver.py RESULTS FILE-OF-TESTS-ALREADY-DONE options of the tests
"""
import importlib
import json
import os
import sys
import unittest

sys.path.insert(0, os.getcwd())


class Recorder(unittest.TestResult):
    def __init__(self, out, skip):
        super().__init__()
        self.out, self.skip = out, skip

    def say(self, test, what, why=''):
        self.out.write(json.dumps({'test': test.id(), 'what': what, 'why': why}) + '\n')
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.say(test, 'begin')

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test, 'pass')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, 'skip', str(reason))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, 'fail', self._exc_info_to_string(err, test)[-1500:])

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, 'error', self._exc_info_to_string(err, test)[-1500:])

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.say(test, 'pass')


def flatten(suite):
    todo, out = [suite], []
    while todo:
        one = todo.pop()
        if isinstance(one, unittest.TestSuite):
            todo += list(one)
        else:
            out.append(one)
    return sorted(out, key=lambda t: t.id())


def main():
    results, done_file = sys.argv[1], sys.argv[2]
    sys.argv[1:] = sys.argv[3:]
    from args_parser import parser
    parser.parse_args()
    only = sys.argv[1:]
    with open(done_file, encoding='utf-8') as f:
        done = set(f.read().split())
    suite = unittest.TestSuite()
    for name in sorted(n[:-3] for n in os.listdir('tests') if n.startswith('test_') and n.endswith('.py')):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module('tests.' + name)))
    with open(results, 'a', encoding='utf-8') as out:
        recorder = Recorder(out, done)
        for test in flatten(suite):
            if test.id() not in done and (not only or any(o in test.id() for o in only)):
                unittest.TestSuite([test]).run(recorder)
        out.write(json.dumps({'test': '', 'what': 'end', 'why': ''}) + '\n')


if __name__ == '__main__':
    main()
