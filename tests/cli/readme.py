#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The first program of the README compiles and says what it should.

    readme.py SOURCE_ROOT LIBRARY COMPILER...

TAP on standard output.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT, LIBRARY, *COMPILER = sys.argv[1:]
number = 0


def check(name, good, why=''):
    global number
    number += 1
    print('%s %d - %s' % ('ok' if good else 'not ok', number, name))
    for line in '' if good else why.split('\n'):
        print('# ' + line)
    return good


def main():
    with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as f:
        programs = re.findall(r'^```c\n(.*?)^```', f.read(), re.M | re.S)
    good = check('the README has one program in C', len(programs) == 1, '%d programs' % len(programs))
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, 'first.c'), os.path.join(folder, 'first')
        with open(source, 'w', encoding='utf-8') as f:
            f.write(programs[0])
        place = os.path.dirname(os.path.abspath(LIBRARY))
        built = subprocess.run([*COMPILER, '-std=c11', '-Wall', '-Wextra', '-Werror', '-Wno-missing-field-initializers', source, '-I',
                                os.path.join(ROOT, 'include'), '-L', place, '-Wl,-rpath,' + place, '-lverbifrost', '-o', program],
                               capture_output=True, text=True, timeout=60)
        good &= check('it compiles without a warning', built.returncode == 0, built.stderr)
        if built.returncode == 0:
            ran = subprocess.run([program], capture_output=True, text=True, timeout=10)
            good &= check('its message arrives', ran.stdout == 'success: hello over RDMA\n', 'status %d: %s%s' % (
                ran.returncode, ran.stdout, ran.stderr))
    print('1..%d' % number)
    return 0 if good else 1


sys.exit(main())
