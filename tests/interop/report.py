# SPDX-License-Identifier: BSD-2-Clause
"""Tables between markers of docs/conformance.md, so that the page says what a script measured and nobody types it."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, 'docs', 'conformance.md')


def table(head, rows):
    out = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)]
    out += ['| ' + ' | '.join(str(c).replace('|', '\\|').replace('\n', ' ') for c in row) + ' |' for row in rows]
    return '\n'.join(out)


def section(name, text):
    """Puts @text between the markers of @name, making page and markers where they are missing."""
    begin, end = '<!-- %s: made by tests/interop/%s -->' % (name, name), '<!-- %s: end -->' % name
    page = ''
    if os.path.exists(PAGE):
        with open(PAGE, encoding='utf-8') as f:
            page = f.read()
    if begin not in page:
        page = page.rstrip('\n') + '\n\n' + begin + '\n' + end + '\n' if page else '# Conformance\n\n' + begin + '\n' + end + '\n'
    a, b = page.index(begin) + len(begin), page.index(end)
    with open(PAGE, 'w', encoding='utf-8') as f:
        f.write(page[:a] + '\n' + text.strip('\n') + '\n' + page[b:])


def closing(passed, failed, skipped):
    print('%d passed, %d failed%s' % (passed, failed, ', %d skipped' % skipped if skipped else ''), flush=True)
    return 1 if failed or not passed else 0
