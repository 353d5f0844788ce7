# SPDX-License-Identifier: BSD-2-Clause
"""Where two ends of a test live: both on this host, or in two network namespaces joined by a veth pair; and how they are run."""
import json
import os
import signal
import socket
import subprocess
import tempfile
import time


class Skip(Exception):
    """This cannot be done here, and why."""


def call(*command, check=True):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise Skip('%s: %s' % (' '.join(command[:4]), (done.stderr or done.stdout).strip()[-200:]))
    return done.stdout


class Process:
    """One end. Its output goes to a file, so that it never blocks; it is killed with all that it started."""

    def __init__(self, command, env=None):
        self.out = tempfile.TemporaryFile(mode='w+')
        self.started = time.monotonic()
        self.p = subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
                                  start_new_session=True)

    def wait(self, seconds):
        try:
            self.p.wait(max(0.01, seconds))
        except subprocess.TimeoutExpired:
            return None
        return self.p.returncode

    def kill(self, sig=signal.SIGKILL):
        try:
            os.killpg(self.p.pid, sig)
        except ProcessLookupError:
            pass
        self.p.wait()

    def text(self):
        self.out.flush()
        self.out.seek(0)
        return self.out.read()


class Place:
    """Two ends: how to run a command at each, and how they reach one another."""

    def __init__(self, name, verbifrost):
        self.name, self.verbifrost = name, verbifrost
        self.prefix = [[], []]
        self.address = ['127.0.0.1', '127.0.0.1']
        self.interface = ['lo', 'lo']
        self.device = ['', '']
        self.gids = [[], []]
        self.mtu = 65536

    def run(self, end, command, **env):
        e = dict(os.environ, **env)
        return Process(self.prefix[end] + [self.verbifrost, 'run', '--'] + command, e)

    def learn_devices(self):
        for end in (0, 1):
            done = subprocess.run(self.prefix[end] + [self.verbifrost, 'devices', '--json'], capture_output=True, text=True,
                                  timeout=30, check=False)
            try:
                devices = json.loads(done.stdout)['devices']
            except (ValueError, KeyError):
                raise Skip('verbifrost devices --json says: %s' % (done.stdout + done.stderr)[-300:]) from None
            mine = [d for d in devices if d.get('interface') == self.interface[end]]
            if not mine:
                raise Skip('no device for %s among %s' % (self.interface[end], [d['device'] for d in devices]))
            self.device[end] = mine[0]['device']
            self.gids[end] = mine[0]['ports'][0]['gids']

    def gid_index(self, end, kind):
        """kind: v4, ll (link-local) or v6 (any other IPv6). None when there is none."""
        for g in self.gids[end]:
            text = g['gid'].lower()
            is_v4, is_ll = text.startswith('::ffff:') or '0000:ffff:' in text, text.startswith('fe80')
            if (kind == 'v4' and is_v4) or (kind == 'll' and is_ll) or (kind == 'v6' and not is_v4 and not is_ll):
                return g['index']
        return None

    def close(self):
        pass


class Local(Place):
    def __init__(self, verbifrost):
        super().__init__('one host', verbifrost)
        self.learn_devices()


class Namespaces(Place):
    count = 0

    def __init__(self, verbifrost, mtu):
        super().__init__('namespaces, MTU %d' % mtu, verbifrost)
        Namespaces.count += 1
        tag = '%d%d' % (os.getpid() % 100000, Namespaces.count)
        self.ns = ['vfi-%s-a' % tag, 'vfi-%s-b' % tag]
        self.interface = ['vfa%s' % tag[-8:], 'vfb%s' % tag[-8:]]
        self.address = ['192.0.2.1', '192.0.2.2']
        self.mtu = mtu
        try:
            self.make(mtu)
            self.learn_devices()
        except BaseException:
            self.close()
            raise

    def make(self, mtu):
        for ns in self.ns:
            call('ip', 'netns', 'add', ns)
        call('ip', 'link', 'add', self.interface[0], 'netns', self.ns[0], 'mtu', str(mtu), 'type', 'veth', 'peer', 'name',
             self.interface[1], 'netns', self.ns[1], 'mtu', str(mtu))
        for end in (0, 1):
            ip = ['ip', '-n', self.ns[end]]
            call(*ip, 'link', 'set', 'lo', 'up')
            call(*ip, 'link', 'set', self.interface[end], 'up')
            call(*ip, 'addr', 'add', self.address[end] + '/24', 'dev', self.interface[end])
            call(*ip, 'addr', 'add', 'fd00:5672::%d/64' % (end + 1), 'dev', self.interface[end], 'nodad', check=False)
            self.prefix[end] = ['ip', 'netns', 'exec', self.ns[end]]
        for end in (0, 1):
            self.settle(end)

    def settle(self, end):
        """Duplicate address detection holds the link-local address back for a second or two."""
        for _ in range(100):
            if 'tentative' not in call('ip', '-n', self.ns[end], '-6', 'addr', 'show', 'dev', self.interface[end]):
                return
            time.sleep(0.1)

    def close(self):
        for ns in self.ns:
            call('ip', 'netns', 'del', ns, check=False)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


NOT_YET = ("Couldn't connect to", 'Connection refused', 'failed to connect')


def pair(place, server, client, timeout, retry_for=8.0, env=None):
    """Runs server at end 0 and client at end 1; the client is started again while the server does not listen yet.
    Returns (server's exit status, server's text, client's status, client's text); a status is None when it was killed for time."""
    s = place.run(0, server, **(env or {}))
    began = time.monotonic()
    try:
        while True:
            c = place.run(1, client, **(env or {}))
            try:
                status = c.wait(timeout - (time.monotonic() - began))
                text = c.text()
            finally:
                c.kill()
            again = status not in (0, None) and any(n in text for n in NOT_YET) and time.monotonic() - began < retry_for
            if not again or s.p.poll() is not None:
                break
            time.sleep(0.1)
        server_status = s.wait(5 if status == 0 else 0.5)
        return server_status, s.text(), status, text
    finally:
        s.kill()
