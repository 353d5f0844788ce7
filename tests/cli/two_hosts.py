#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The command between two network namespaces, as between two hosts: a link, its rate, a firewall, a port without an IPv4 address.

    two_hosts.py COMMAND

Needs root and ip(8). TAP on standard output; exit status 77 when it cannot run here.
"""
import json
import os
import shutil
import subprocess
import sys
import time

VERBIFROST = os.path.abspath(sys.argv[1])
ENV = {k: v for k, v in os.environ.items() if not k.startswith('VERBIFROST_')}
ENV.update(LC_ALL='C', TERM='dumb')
A, B = ('vfcli%d%s' % (os.getpid(), side) for side in 'ab')
results = []


def ip(*args):
    subprocess.run(['ip', *args], check=True, capture_output=True, text=True, timeout=20)


def on(side, *args, wanted=0, timeout=120):
    done = subprocess.run(['ip', 'netns', 'exec', side, *args], capture_output=True, text=True, env=ENV, timeout=timeout)
    if wanted is not None and done.returncode != wanted:
        raise AssertionError('%s: status %d, wanted %d\n%s%s' % (' '.join(args), done.returncode, wanted, done.stdout, done.stderr))
    return done


def data(side, *args, **kw):
    return json.loads(on(side, VERBIFROST, *args, '--json', **kw).stdout)


def need(condition, *what):
    if not condition:
        raise AssertionError(' '.join(str(w) for w in what))


def test(f):
    try:
        f()
        results.append(True)
        print('ok %d - %s' % (len(results), f.__name__.replace('_', ' ')), flush=True)
    except Exception as e:  # noqa: BLE001: whatever went wrong is a failed test
        results.append(False)
        print('not ok %d - %s' % (len(results), f.__name__.replace('_', ' ')))
        for line in str(e).splitlines():
            print('# ' + line, flush=True)


def build_hosts():
    ip('netns', 'add', A)
    ip('netns', 'add', B)
    ip('link', 'add', 'vfa', 'netns', A, 'type', 'veth', 'peer', 'name', 'vfb', 'netns', B)
    for side, name, address in ((A, 'vfa', '10.77.0.1/24'), (B, 'vfb', '10.77.0.2/24')):
        ip('-n', side, 'link', 'set', 'lo', 'up')
        ip('-n', side, 'link', 'set', name, 'up')
        ip('-n', side, 'address', 'add', address, 'dev', name)


def tear_down(server):
    if server:
        server.terminate()
        server.wait(timeout=10)
    for side in (A, B):
        subprocess.run(['ip', 'netns', 'del', side], capture_output=True, timeout=20)


def messages_cross_the_link_by_each_transport():
    for transport in ('rc', 'uc', 'ud'):
        found = data(A, 'ping', '10.77.0.2', '-t', transport, '-n', '20', '-i', '0')
        need(found['device'] == 'vf_vfa' and found['gid'] == '::ffff:10.77.0.1' and found['answered'] == 20, found)


def a_link_is_judged_and_small_and_large_frames_carry_right_contents():
    for mtu, path_mtu in (('1500', 1024), ('9000', 4096)):
        ip('-n', A, 'link', 'set', 'vfa', 'mtu', mtu)
        ip('-n', B, 'link', 'set', 'vfb', 'mtu', mtu)
        found = data(A, 'bench', '10.77.0.2', '-t', 'all', '-o', 'all', '-n', '200', '-s', '700,40000', wanted=None)
        need(found['exit_status'] in (0, 2) and not found['error'] and not found['same_host'], found)
        need(found['preflight'].split(':')[0] in ('healthy', 'up but slow'), found['preflight'])
        for r in found['results']:
            need(r['lost'] == 0 and r['corrupt'] == 0 and r['path_mtu'] == path_mtu, r)


def the_doctor_reaches_a_peer_and_names_a_firewall():
    rows = [c for c in data(A, 'doctor', '--no-transfer', '--peer', '10.77.0.2')['checks'] if c['check'] == 'peer']
    need([c['state'] for c in rows] == ['ok'], rows)
    if not shutil.which('nft'):
        return
    on(B, 'nft', 'add table inet t; add chain inet t i { type filter hook input priority 0; }; add rule inet t i udp dport 4791 drop')
    try:
        rows = [c for c in data(A, 'doctor', '--no-transfer', '--peer', '10.77.0.2', wanted=1)['checks'] if c['check'] == 'peer']
        need(rows[0]['state'] == 'fail' and '4791' in rows[0]['text'] and '4791' in rows[0]['fix'], rows)
    finally:
        on(B, 'nft', 'flush ruleset')


def a_port_without_an_ipv4_address_gets_one_line_and_the_command():
    ip('-n', A, '-4', 'address', 'flush', 'dev', 'vfa')
    time.sleep(0.1)
    rows = [c for c in data(A, 'doctor', '--no-transfer', wanted=1)['checks'] if c['check'] == 'port' and 'vfa' in c['text']]
    need(len(rows) == 1 and rows[0]['state'] == 'fail', rows)
    for word in ('interface vfa', 'ACTIVE', '0=fe80::'):
        need(word in rows[0]['text'], word, rows)
    command = rows[0]['fix'].split('   ')[0].replace('sudo ', '').split()
    on(A, *command)
    data(A, 'doctor', '--no-transfer')


def main():
    server = None
    if os.geteuid() != 0 or not shutil.which('ip'):
        print('1..0 # SKIP needs root and ip(8)')
        return 77
    try:
        build_hosts()
    except (subprocess.CalledProcessError, OSError) as e:
        tear_down(None)
        print('1..0 # SKIP no network namespaces here: %s' % e)
        return 77
    try:
        deadline = time.monotonic() + 10  # link-local addresses are tentative at first
        while 'tentative' in on(A, 'ip', '-6', 'address').stdout + on(B, 'ip', '-6', 'address').stdout and time.monotonic() < deadline:
            time.sleep(0.1)
        server = subprocess.Popen(['ip', 'netns', 'exec', B, VERBIFROST, 'bench', '--server'], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, env=ENV)
        need('Waiting' in server.stdout.readline(), 'the server does not start')
        for f in (messages_cross_the_link_by_each_transport, a_link_is_judged_and_small_and_large_frames_carry_right_contents,
                  the_doctor_reaches_a_peer_and_names_a_firewall, a_port_without_an_ipv4_address_gets_one_line_and_the_command):
            test(f)
    finally:
        tear_down(server)
    print('1..%d' % len(results))
    return 0 if all(results) else 1


sys.exit(main())
