#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each subcommand on the soft device: what it prints, its JSON, its exit status; no device; a peer that dies, stops, or talks nonsense.

    commands.py COMMAND [SANITIZER]

Needs a loopback interface and no privilege. TAP on standard output.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

VERBIFROST = os.path.abspath(sys.argv[1])
SANITIZER = sys.argv[2] if len(sys.argv) > 2 else 'none'
ENV = {k: v for k, v in os.environ.items() if not k.startswith('VERBIFROST_')}
ENV.update(LC_ALL='C', TERM='dumb')
PATIENCE_S = 5  # a dead peer is reported within
results = []


def test(f):
    try:
        f()
        results.append(('ok', f.__name__, ''))
    except Skip as e:
        results.append(('ok', f.__name__ + ' # SKIP ' + str(e), ''))
    except Exception as e:  # noqa: BLE001: whatever went wrong is a failed test
        results.append(('not ok', f.__name__, '%s: %s' % (type(e).__name__, e)))
    state, name, why = results[-1]
    print('%s %d - %s' % (state, len(results), name.replace('_', ' ')), flush=True)
    for line in why.splitlines():
        print('# ' + line, flush=True)


class Skip(Exception):
    pass


def verbifrost(*args, wanted=0, timeout=60, **env):
    done = subprocess.run([VERBIFROST, *args], capture_output=True, text=True, env=dict(ENV, **env), timeout=timeout)
    if wanted is not None and done.returncode != wanted:
        raise AssertionError('%s: status %d, wanted %d\n%s%s' % (' '.join(args), done.returncode, wanted, done.stdout, done.stderr))
    return done


def data(*args, **kw):
    return json.loads(verbifrost(*args, '--json', **kw).stdout)


def need(condition, *what):
    if not condition:
        raise AssertionError(' '.join(str(w) for w in what))


def active():
    names = [d['device'] for d in data('devices')['devices'] if d['ports'] and d['ports'][0]['state'] == 'ACTIVE']
    need(names, 'no active device')
    return names


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, *args):
        self.port = str(free_port())
        self.process = subprocess.Popen([VERBIFROST, 'bench', '--server', '-p', self.port, *args], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=ENV)
        need('Waiting' in self.process.stdout.readline(), 'the server does not start')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=10)


@test
def devices_shows_loopback_with_its_ipv4_address():
    done = verbifrost('devices')
    need('vf_lo' in done.stdout and '::ffff:127.0.0.1' in done.stdout, done.stdout)
    need(verbifrost().stdout == done.stdout, 'no command is not devices')
    lo = [d for d in data('devices')['devices'] if d['device'] == 'vf_lo'][0]
    need(lo['ports'][0]['state'] == 'ACTIVE' and lo['interface'] == 'lo', lo)
    need([g['gid'] for g in lo['ports'][0]['gids'] if g['index'] == 1] == ['::ffff:127.0.0.1'], lo)


@test
def info_has_every_attribute_in_text_and_json():
    name = active()[0]
    text = verbifrost('info', name).stdout
    for word in ('max_qp_wr', 'completion_timestamp_mask', 'active_mtu', 'GID[', 'PKEY['):
        need(word in text, word, 'is not in', text)
    device = data('info', name)['devices'][0]
    need(device['max_qp'] > 0 and device['ports'][0]['state'] == 'ACTIVE', device)
    need(len(data('info')['devices']) == len(data('devices')['devices']), 'info without a device does not show all')


@test
def info_shows_counters_under_the_kernels_names():
    counters = data('info', active()[0], '--counters')['devices'][0]['counters']
    need('out_of_sequence' in counters, counters)
    need('each process' in verbifrost('info', '-c').stdout, 'text does not say whose counters they are')


@test
def info_of_a_device_that_is_not_there_fails_and_says_so():
    need('vf_nonsense' in verbifrost('info', 'vf_nonsense', wanted=1).stderr, 'the name is not in the message')


@test
def env_shows_default_and_value():
    settings = {s['name']: s for s in data('env', VERBIFROST_LOG='warn')['settings']}
    need(settings['VERBIFROST_LOG']['value'] == 'warn' and not settings['VERBIFROST_LOG']['is_default'], settings)
    need(settings['VERBIFROST_UDP_PORT']['is_default'], settings)


@test
def without_a_usable_interface_every_command_says_why():
    env = {'VERBIFROST_INTERFACES': 'nonexistent'}
    done = verbifrost('devices', wanted=1, **env)
    need('No device' in done.stdout and 'left out lo' in done.stdout, done.stdout)
    found = data('devices', wanted=1, **env)
    need(found['devices'] == [] and any('lo' in s['what'] for s in found['skipped']), found)
    verbifrost('info', wanted=1, **env)
    need('no device' in verbifrost('bench', '--self', wanted=1, **env).stderr, 'bench does not say it')
    verbifrost('ping', '--self', wanted=1, **env)
    checks = data('doctor', wanted=1, **env)['checks']
    row = [c for c in checks if c['check'] == 'devices' and c['state'] == 'fail']
    need(row and row[0]['fix'] == 'unset VERBIFROST_INTERFACES', checks)


@test
def run_passes_status_and_signals_through():
    verbifrost('run', '--', 'sh', '-c', 'exit 7', wanted=7)
    verbifrost('run', 'sh', '-c', 'kill -TERM $$', wanted=-signal.SIGTERM)
    verbifrost('run', '--', '/nonexistent/program', wanted=127)
    verbifrost('run', '--', '/', wanted=126)
    verbifrost('run', wanted=125)
    verbifrost('run', '--nonsense', 'true', wanted=125)


@test
def run_puts_the_libraries_first_and_explain_turns_refusals_on():
    script = 'echo "$LD_LIBRARY_PATH$DYLD_LIBRARY_PATH|$VERBIFROST_LOG"'
    paths, log = verbifrost('run', 'sh', '-c', script, LD_LIBRARY_PATH='/before').stdout.strip().split('|')
    first = paths.split(':')[0]
    need(first == verbifrost('run', '--print-dir').stdout.strip(), paths)
    need(os.path.exists(os.path.join(first, 'libibverbs.so.1')) and paths.endswith(':/before') and log == '', paths, log)
    need(verbifrost('run', '-e', 'sh', '-c', script).stdout.strip().endswith('|warn'), 'explain')
    need(verbifrost('run', '-e', 'sh', '-c', script, VERBIFROST_LOG='debug').stdout.strip().endswith('|debug'), 'explain lowers the level')


@test
def run_shows_our_devices_to_ibv_devices():
    if not shutil.which('ibv_devices'):
        raise Skip('ibv_devices is not installed')
    if SANITIZER != 'none':
        raise Skip('a program without a sanitizer cannot load a library with one')
    need('vf_lo' in verbifrost('run', 'ibv_devices').stdout, 'vf_lo is not listed')


@test
def ping_between_two_processes_works_on_each_transport():
    for transport in ('rc', 'uc', 'ud'):
        found = data('ping', '--self', '-t', transport, '-n', '20', '-i', '0')
        need(found['answered'] == 20 and found['corrupt'] == 0 and found['round_trip_p50_us'] > 0, found)
    text = verbifrost('ping', '--self', '-n', '2', '-i', '0.01').stdout
    need('seq 0' in text and 'seq 1' in text and '2 answered' in text, text)


def all_cases(*extra):
    found = data('bench', '--self', '-t', 'all', '-o', 'all', *extra)
    need(found['error'] is None, found['error'])
    for r in found['results']:
        need(r['corrupt'] == 0 and r['lost'] == 0 and r['arrived'] == r['sent'] > 0, r)
    return {(r['measure'], r['transport'], r['operation'], r['size']) for r in found['results']}


@test
def bench_moves_right_contents_by_every_transport_and_operation():
    cases = all_cases('-n', '300', '-s', '1,64,1000,4096,70000')
    for measure in ('bandwidth', 'latency'):
        for transport, ops in (('RC', ('send', 'write', 'read', 'atomic')), ('UC', ('send', 'write')), ('UD', ('send',))):
            for op in ops:
                need((measure, transport, op, 8 if op == 'atomic' else 64) in cases, measure, transport, op, 'is missing')


@test
def bench_works_with_events_and_by_time():
    all_cases('--events', '-D', '0.05', '-s', '512')


@test
def bench_numbers_hang_together():
    r = data('bench', '--self', '-m', 'all', '-s', '8k', '-D', '0.3')['results']
    bandwidth, latency = r
    need(0 < bandwidth['receiver_bits_per_s'] and abs(bandwidth['receiver_bits_per_s'] / 65536 / bandwidth['messages_per_s'] - 1) < 0.01,
         bandwidth)
    ratio = bandwidth['sender_bits_per_s'] / bandwidth['receiver_bits_per_s']
    need(0.8 < ratio < 1.25, 'sender and receiver disagree:', ratio)
    order = [latency[k] for k in ('min_us', 'p50_us', 'p90_us', 'p99_us', 'p99_9_us', 'max_us')]
    need(order == sorted(order) and order[0] > 0, order)
    need(sum(b['count'] for b in latency['histogram']) == latency['arrived'], 'histogram')


@test
def a_figure_above_the_link_rate_is_flagged_with_status_2():
    found = data('bench', '--self', '-m', 'bandwidth', '-s', '64k', '-n', '200', '--link-rate', '0.001', wanted=2)
    need(found['results'][0]['above_link_rate'] and 'above the link' in found['preflight'], found)


@test
def bench_counts_what_uc_loses_and_still_ends():
    env = {'VERBIFROST_IMPAIR': 'loss=5%,seed=3'}
    for op in ('send', 'write'):
        found = data('bench', '--self', '-t', 'uc', '-o', op, '-m', 'bandwidth', '-n', '500', '-s', '3000', **env)
        r = found['results'][0]
        need(r['lost'] > 0 and r['corrupt'] == 0 and r['arrived'] + r['lost'] == r['sent'], r)


@test
def bench_over_rc_repairs_loss():
    env = {'VERBIFROST_IMPAIR': 'loss=1%,dup=1%,reorder=1%,seed=5'}
    found = data('bench', '--self', '-o', 'all', '-m', 'bandwidth', '-n', '300', '-s', '3000', **env)
    for r in found['results']:
        need(r['lost'] == 0 and r['corrupt'] == 0 and r['arrived'] == r['sent'], r)


@test
def two_ends_meet_over_tcp():
    with Server() as server:
        need('::ffff:127.0.0.1' == data('ping', '127.0.0.1', '-p', server.port, '-n', '3', '-i', '0')['gid'], 'gid')
        found = data('bench', '127.0.0.1', '-p', server.port, '-s', '4k', '-n', '500')
        need(found['device'] == 'vf_lo' and found['same_host'] and len(found['results']) == 2, found)


def dying_peer(signal_number, word):
    with Server() as server:
        client = subprocess.Popen([VERBIFROST, 'bench', '127.0.0.1', '-p', server.port, '-D', '60', '-m', 'bandwidth', '-s', '64k',
                                   '--no-preflight'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
        try:
            time.sleep(1)
            need(client.poll() is None, 'the client ended early')
            server.process.send_signal(signal_number)
            start = time.monotonic()
            _, err = client.communicate(timeout=PATIENCE_S + 5)
            took = time.monotonic() - start
            need(client.returncode == 1 and word in err and took < PATIENCE_S + 1, client.returncode, err, took)
        finally:
            client.kill()
            server.process.send_signal(signal.SIGCONT)


@test
def a_peer_that_is_killed_is_reported_with_the_cause():
    dying_peer(signal.SIGKILL, 'gone')


@test
def a_peer_that_is_stopped_is_reported_with_the_cause():
    dying_peer(signal.SIGSTOP, 'silent')


@test
def nobody_there_is_reported_with_what_to_do():
    need('--server' in verbifrost('bench', '127.0.0.1', '-p', str(free_port()), wanted=1).stderr, 'no hint')


@test
def a_server_refuses_nonsense_and_serves_the_next():
    with Server() as server:
        for nonsense in (b'GET / HTTP/1.1\r\n\r\n', b'', b'VFSC\x00\x01\x00\x01\xff\xff\xff\xff', b'VFSC\x00\x09\x00\x01\x00\x00\x00\x00',
                         b'VFSC\x00\x01\x00\x02\x00\x00\x00\x80' + b'\xff' * 128):
            with socket.create_connection(('127.0.0.1', int(server.port)), timeout=5) as s:
                s.sendall(nonsense)
                s.shutdown(socket.SHUT_WR)
                answer = b''
                while True:
                    more = s.recv(4096)
                    if not more:
                        break
                    answer += more
                need(not nonsense or answer.startswith(b'VFSC'), nonsense, answer)
        hello = b'VFSC\x00\x01\x00\x01\x00\x00\x00\x00'
        with socket.create_connection(('127.0.0.1', int(server.port)), timeout=5) as s:
            s.sendall(hello + b'VFSC\x00\x01\x00\x02\x00\x00\x00\x80' + b'\xff' * 128)
            answer = b''
            while b'cannot be measured' not in answer:
                more = s.recv(4096)
                need(more, 'closed without a reason:', answer)
                answer += more
        data('ping', '127.0.0.1', '-p', server.port, '-n', '2', '-i', '0')


@test
def doctor_runs_every_section():
    done = verbifrost('doctor', '--json', wanted=None, timeout=150)
    report = json.loads(done.stdout)
    rows = {}
    for c in report['checks']:
        rows.setdefault(c['check'], []).append(c)
    need({'library', 'drop-in', 'udp-port', 'rcvbuf', 'devices', 'port', 'memory', 'transfer'} <= set(rows), sorted(rows))
    for name in ('library', 'drop-in', 'udp-port', 'memory', 'transfer'):
        need(all(c['state'] == 'ok' for c in rows[name]), rows[name])
    need(done.returncode == (1 if report['failed'] else 0) == report['exit_status'], done.returncode, report['failed'])


@test
def usage_mistakes_have_their_own_status():
    for args in (('bench',), ('bench', '--self', 'host'), ('bench', '--self', '-t', 'ud', '-o', 'read'), ('bench', '--self', '-s', '0'),
                 ('bench', '--self', '--mtu', '1500'), ('ping',), ('ping', '--self', '-t', 'xx'), ('devices', 'x'), ('env', 'x'),
                 ('info', 'a', 'b'), ('help', 'nonsense'), ('nonsense',)):
        verbifrost(*args, wanted=64)


print('1..%d' % len(results))
sys.exit(any(state != 'ok' for state, _, _ in results))
