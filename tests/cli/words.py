#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Help, manual pages and completion files say the same, because the tables in cli/ are the only source.

    words.py COMMAND SOURCE_ROOT

Needs no device. TAP on standard output.
"""
import json
import os
import re
import subprocess
import sys

VERBIFROST, ROOT = sys.argv[1:3]
ENV = dict(os.environ, LC_ALL='C', TERM='dumb')
failures = 0
number = 0


def check(name, problems):
    global failures, number
    number += 1
    failures += bool(problems)
    print('%s %d - %s' % ('not ok' if problems else 'ok', number, name))
    for p in problems:
        print('# ' + p)


def output(*args):
    done = subprocess.run([VERBIFROST, *args], capture_output=True, text=True, env=ENV, timeout=30)
    return done.returncode, done.stdout, done.stderr


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as f:
        return f.read()


def squeeze(text):
    return ' '.join(text.split())


def rows(block):
    """Rows of a help section: what stands left, and the text right of it joined."""
    out = []
    for line in block.split('\n'):
        if line.strip() and not line.startswith(' ' * 20):
            left = re.match(r' +(.*?)(?:  +|$)', line).group(1)
            out.append([left, line[line.index(left) + len(left):].strip()])
        elif line.strip():
            out[-1][1] = squeeze(out[-1][1] + ' ' + line)
    return out


class Help:
    def __init__(self, command):
        self.command = command
        self.status, text, _ = output(command, '--help')
        self.summary = re.match(r'verbifrost %s: (.*)' % command, text).group(1)
        self.about = squeeze(re.search(r'Usage:.*?\n\n(.*?)\n\nOptions:', text, re.S).group(1))
        self.options = rows(re.search(r'Options:\n(.*?)\n\nExit', text, re.S).group(1))
        self.exits = rows(text.split('Exit status:\n')[1])

    def longs(self):
        return [re.search(r'--(\S+)', left).group(1) for left, _ in self.options]


def page_items(text):
    """(.It line, the text below it up to the next macro that ends it)."""
    items = []
    for block in re.split(r'^\.It ', text, flags=re.M)[1:]:
        head, _, rest = block.partition('\n')
        rest = re.split(r'^\.(?:El|Sh|Ss|Pp)', rest, flags=re.M)[0]
        items.append((head, squeeze(rest.replace('\\&', ''))))
    return items


def as_mdoc(left):
    """"-d, --device NAME" as the page writes it."""
    m = re.match(r'(?:-(\w), )?--(\S+)(?: (\S+))?$', left)
    arg = ' Ar ' + m.group(3) if m.group(3) else ''
    return ('Fl %s%s , ' % (m.group(1), arg) if m.group(1) else '') + 'Fl -' + m.group(2) + arg


def page_problems(h):
    page = read('docs', 'man', 'verbifrost-%s.1' % h.command)
    items = page_items(page)
    problems = []
    if '.Nd %s\n' % h.summary not in page:
        problems.append('the summary is not ' + h.summary)
    if h.about not in squeeze(page):
        problems.append('the description does not begin as the help')
    for left, text in h.options:
        if not any(head == as_mdoc(left) and below.startswith(text) for head, below in items):
            problems.append('option "%s" with "%s" is not there' % (left, text))
    in_page = {name for head, _ in items for name in re.findall(r'Fl -(\S+)', head)}
    problems += ['option --%s is in the page only' % name for name in sorted(in_page - set(h.longs()))]
    for status, text in h.exits:
        if (status, text) not in items:
            problems.append('exit status %s with "%s" is not there' % (status, text))
    return problems


def bash_problems(h):
    text = read('completions', 'verbifrost.bash')
    m = re.search(r'^\t%s\) options="(.*?)"' % h.command, text, re.M | re.S)
    there = set(re.findall(r'--(\S+)', m.group(1))) if m else set()
    return ['--' + name for name in sorted(there ^ set(h.longs()))]


def zsh_problems(h):
    text = read('completions', '_verbifrost')
    m = re.search(r'^\t%s\)\n(.*?)^\t\t;;' % h.command, text, re.M | re.S)
    block = m.group(1).replace("'\\''", "'").replace('\\', '') if m else ''
    problems = ['--%s: %s' % (name, help_text) for name, (_, help_text) in zip(h.longs(), h.options)
                if not re.search(r'--%s(?:}\'|)\[%s\]' % (re.escape(name), re.escape(help_text)), block)]
    return problems + ([] if '%s:%s' % (h.command, h.summary) in text else ['summary of ' + h.command])


def main():
    status, overview, _ = output('help')
    commands = re.findall(r'^  (\w+) +\S', overview, re.M)
    check('help lists the commands', [] if status == 0 and {'devices', 'bench', 'doctor'} <= set(commands) else [overview])
    pages = read('docs', 'man', 'verbifrost.1')
    for command in commands:
        h = Help(command)
        check('%s: help succeeds and names an exit status' % command, [] if h.status == 0 and h.exits else ['status %d' % h.status])
        check('%s: the manual page has the words of the help' % command, page_problems(h))
        check('%s: the overview page has the summary' % command, [] if '\n%s\n' % h.summary in pages else [h.summary])
        check('%s: bash completes every option and no other' % command, bash_problems(h))
        check('%s: zsh completes every option with its help' % command, zsh_problems(h))
        status, _, err = output(command, '--no-such-option')
        wanted = 125 if command == 'run' else 64
        check('%s: an unknown option is refused and the help named' % command,
              [] if status == wanted and '--help' in err else ['status %d, %s' % (status, err)])

    status, text, _ = output('env', '--json')
    items = page_items(read('docs', 'man', 'verbifrost.7'))
    settings = json.loads(text)['settings']
    check('verbifrost(7) has every variable with its default and meaning', [
        s['name'] for s in settings
        if ('Ev %s No ( %s )' % (s['name'], s['default'] or 'empty'), squeeze(s['help'])) not in items])
    check('verbifrost(7) has no other variable', sorted(
        {m for head, _ in items for m in re.findall(r'^Ev (VERBIFROST_\S+)', head)} - {s['name'] for s in settings}))
    status, _, err = output('devcies')
    check('an unknown command is refused with the nearest', [] if status == 64 and '"devices"' in err else [err])
    status, text, _ = output('--version')
    version = re.search(r"version: '([^']+)'", read('meson.build')).group(1)
    check('the version is that of the build', [] if status == 0 and text.split()[1] == version else [text])
    print('1..%d' % number)
    return 1 if failures else 0


sys.exit(main())
