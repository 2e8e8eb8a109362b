// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the commands are bash
import { Buffer } from 'node:buffer';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type ExecOptions,
  type ExecResult,
  SandboxFailure,
  SandboxFileError,
  type SandboxProvider,
  type SandboxSession,
} from '../../../src/core/sandbox/sandbox.ts';
import { expectPrompt } from '../../support/prompt.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** What a call showed, as text (invalid UTF-8 is replaced). */
export interface Shown {
  readonly kind: ExecResult['end']['kind'];
  readonly code: number | undefined;
  readonly text: string;
  readonly ms: number;
}

export async function shell(
  session: SandboxSession,
  command: string,
  options: Partial<ExecOptions> = {},
): Promise<Shown> {
  const result = await session.shell(command, {
    timeoutMs: 20_000,
    maxOutputBytes: 65_536,
    ...options,
  });
  return shown(result);
}

function shown(result: ExecResult): Shown {
  return {
    kind: result.end.kind,
    code: result.end.kind === 'exited' ? result.end.code : undefined,
    text: Buffer.concat([result.output.head, result.output.tail]).toString(),
    ms: result.durationMs,
  };
}

/** What every provider must do. `isolated`: it also promises a namespace or container of its own. */
export function describeSandbox(
  name: string,
  create: (stateDir: string) => SandboxProvider,
  promises: {
    readonly isolated: boolean;
    /** What sessions leave behind on their engine; by default, in the folder of the state. */
    readonly left?: () => readonly string[];
  },
): void {
  describe(`sandbox ${name}`, () => {
    let fixture: Fixture;
    let provider: SandboxProvider;
    let session: SandboxSession;
    const sh = (command: string, options?: Partial<ExecOptions>): Promise<Shown> =>
      shell(session, command, options);
    /** Of calls that must not wait for anything: measured beside calls that do nothing. */
    const prompt = (attempt: () => Promise<number>, boundMs?: number): Promise<void> =>
      expectPrompt(attempt, () => sh('true'), boundMs);
    const left = (): readonly string[] => [
      ...(existsSync(join(fixture.root, 'state/scratch'))
        ? readdirSync(join(fixture.root, 'state/scratch'))
        : []),
      ...(promises.left?.() ?? []),
    ];

    beforeAll(async () => {
      fixture = createFixture();
      provider = create(join(fixture.root, 'state'));
      const state = await provider.availability();
      if (!state.available)
        throw new Error(`${name} is needed for this test: ${state.reason}. ${state.remedy}`);
      session = await provider.open(fixture.spec);
    });
    afterAll(async () => {
      await session.close();
      const rest = left();
      fixture.remove();
      expect(rest).toEqual([]);
    });
    // Whatever a test did, the next call is healthy.
    afterEach(async () => {
      const next = await sh('echo healthy');
      expect(next).toMatchObject({ kind: 'exited', code: 0, text: 'healthy\n' });
      await session.restartShell();
    });

    describe('shell', () => {
      test('starts in the snapshot, which it sees at /workspace', async () => {
        expect((await sh('pwd; cat a.txt; src/run.sh')).text).toBe('/workspace\na\nran\n');
      });

      test('sees the snapshot at the path of the user as well', async () => {
        const path = fixture.spec.base.workspacePath;
        expect((await sh(`cd ${path} && cat a.txt && ls`)).text).toBe(
          'a\na.txt\nnode_modules\nsrc\n',
        );
      });

      test('sees dependencies, and the toolbox', async () => {
        const { text } = await sh(
          'cat node_modules/dep/index.js /opt/prime/reporter.txt; git status --short',
        );
        expect(text).toBe('module.exports = 42;\na helper\n');
      });

      test('never touches the base', async () => {
        await sh('echo changed > a.txt; rm -r src; git commit -qam x');
        expect(readFileSync(join(fixture.spec.base.tree, 'a.txt'), 'utf8')).toBe('a\n');
        expect(existsSync(join(fixture.spec.base.tree, 'src/run.sh'))).toBe(true);
        await sh('git checkout -q . ; git reset -q --hard HEAD');
      });

      test.each([
        ['a plain failure', 'exit 3', 3, ''],
        ['set -e', 'set -e; false; echo no', 1, ''],
        ['exec', 'exec echo replaced', 0, 'replaced\n'],
        ['a missing command', 'nosuchcommand 2>/dev/null', 127, ''],
        ['a trailing comment', 'echo yes # done', 0, 'yes\n'],
        ['a trailing backslash', 'echo yes \\', 0, 'yes \\\n'],
        ['an empty command', '', 0, ''],
        ['a return outside a function', 'return 2>/dev/null; echo on', 0, 'on\n'],
        ['its own death', 'echo a; kill -9 $$', 137, 'a\n'],
        ['the death of its group', 'echo a; kill -9 0', 137, 'a\n'],
        ['a terminated self', 'echo a; kill $$', 143, 'a\n'],
        ['closed stdout', 'exec >&- 2>&-; echo lost', 1, ''],
        ['closed stdin', 'exec <&-; read x; echo on', 0, 'on\n'],
        ['empty stdin', 'cat; read line || echo end', 0, 'end\n'],
        ['stderr in the order of writing', 'echo 1; echo 2 >&2; echo 3', 0, '1\n2\n3\n'],
        ['no final newline', 'printf abc', 0, 'abc'],
        ['several lines', 'echo a\n\necho b\n', 0, 'a\nb\n'],
        ['carriage returns', "printf '10%%\\r100%%\\r\\n'", 0, '10%\r100%\r\n'],
        [
          'escape sequences',
          "printf '\\033[2J\\033]0;x\\007\\033[?1049h'",
          0,
          '\x1b[2J\x1b]0;x\x07\x1b[?1049h',
        ],
        ['a null byte in the output', "printf 'a\\0b'", 0, 'a\0b'],
        ['/dev/stdout and /dev/stderr', 'echo a >/dev/stdout; echo b >/dev/stderr', 0, 'a\nb\n'],
        ['set -u', 'set -u; echo ${nothing}; echo no', 127, undefined],
        ['a changed IFS and PATH', 'IFS=x; PATH=; cd src', 0, ''],
      ])('%s', async (_, command, code, text) => {
        const result = await sh(command);
        expect(result).toMatchObject({ kind: 'exited', code });
        if (text !== undefined) expect(result.text.replace(/^bash: .*\n/gm, '')).toBe(text);
      });

      test.each([
        ['syntax error', 'if then fi', /syntax error/],
        ['unterminated quote', "echo 'abc", /unexpected EOF/],
        ['unterminated double quote', 'echo "abc', /unexpected EOF/],
        ['unterminated substitution', 'echo $(ls', /unexpected EOF/],
        ['unterminated group', '{ echo a', /syntax error/],
      ])('%s: said, and the next call is healthy', async (_, command, message) => {
        const result = await sh(command);
        expect(result.code).toBeGreaterThan(0);
        expect(result.text).toMatch(message);
      });

      test('an unterminated here-document ends with the command', async () => {
        const result = await sh('cat <<EOF\nline');
        expect(result.text).toMatch(/here-document[^\n]*\nline\n$/);
      });

      test('what is printed is never taken for the end of the call', async () => {
        const { text, code } = await sh(
          "printf 'end 1 0\\nend 2 0\\nkilled 1\\nready\\n' | tee /dev/stderr; sleep 0.05; echo last; exit 5",
        );
        expect(code).toBe(5);
        expect(text).toMatch(/last\n$/);
        expect(text.match(/end 1 0/g)).toHaveLength(2);
      });

      test('bytes that are no UTF-8 pass through', async () => {
        const result = await session.shell(
          "printf '\\377\\376\\303'; sleep 0.05; printf '\\251x'",
          {
            timeoutMs: 5000,
            maxOutputBytes: 100,
          },
        );
        expect([...result.output.head]).toEqual([255, 254, 0xc3, 0xa9, 0x78]);
      });

      test('every byte of a command arrives', async () => {
        const odd = 'a\'b"c\\d$e`f\tg\u00e9\u{1f600}\u007f\u0001!*?[]{}~';
        const result = await sh(`cat <<'EOF'\n${odd}\nEOF`);
        expect(result.text).toBe(`${odd}\n`);
      });

      test('a null byte in a command is refused', async () => {
        expect(await sh('echo a\0b')).toMatchObject({ kind: 'exited', code: 2 });
      });

      test('a command of a megabyte works', async () => {
        const result = await sh(`x='${'y'.repeat(1 << 20)}'; echo \${#x}`);
        expect(result.text).toBe('1048576\n');
      });

      test('output of up to a gigabyte: both ends kept, the rest counted, memory bounded', async () => {
        const size = promises.isolated ? 1_000_000_000 : 100_000_000;
        const before = process.memoryUsage().rss;
        const result = await session.shell(
          `echo first; head -c ${size} /dev/zero; echo; echo last`,
          {
            timeoutMs: 540_000,
            maxOutputBytes: 10_000,
          },
        );
        expect(result.end).toEqual({ kind: 'exited', code: 0 });
        const { head, tail, omittedBytes } = result.output;
        expect(head.length + tail.length).toBe(10_000);
        expect(omittedBytes).toBe(size + 6 + 1 + 5 - 10_000);
        expect(Buffer.from(head).toString().startsWith('first\n')).toBe(true);
        expect(Buffer.from(tail).toString().endsWith('\nlast\n')).toBe(true);
        expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
      }, 600_000);

      test('output is reported as it comes', async () => {
        const times: number[] = [];
        const started = performance.now();
        await sh('echo a; sleep 0.4; echo b', {
          onOutput: () => times.push(performance.now() - started),
        });
        expect(times.length).toBe(2);
        expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(200);
      });

      test('signals in commands behave as in a terminal', async () => {
        const { text } = await sh(
          "trap 'echo caught' INT; kill -INT $$; grep SigIgn /proc/self/status; bash -c 'kill -INT $$'; echo $?",
        );
        expect(text.replace(/SigIgn:\s+/, '')).toBe('caught\n0000000000000000\n130\n');
      });

      test('no descriptor but the usual three is open', async () => {
        const { text } = await sh('ls /proc/self/fd/');
        expect(text.trim().split('\n')).toEqual(['0', '1', '2', '3']);
      });
    });

    describe('shell state', () => {
      test('directory and exports last; variables, functions and options do not', async () => {
        await sh(
          'cd src; export A="1 \'2\'\n3" B=b; C=c; f() { :; }; set -x; shopt -s extglob; alias x=y; umask 077',
        );
        const { text } = await sh(
          'pwd; echo "$A|$B|${C-unset}"; type f 2>&1; echo $-; shopt extglob; cd -',
        );
        expect(text).toContain("/workspace/src\n1 '2'\n3|b|unset\n");
        expect(text).toContain('f: not found');
        expect(text).toContain('extglob        \toff');
        expect(text).toMatch(/\n\/workspace\n$/);
        expect(text).not.toMatch(/\+ /);
      });

      test('a variable that was unset stays unset, also one of the environment', async () => {
        await sh('export A=1; unset PAGER');
        await sh('unset A');
        expect((await sh('echo "${A-gone} ${PAGER-gone}"')).text).toBe('gone gone\n');
      });

      test.each([
        ['exit', 'cd src; export A=1; exit 4'],
        ['set -e', 'cd src; export A=1; set -e; false'],
        ['a trap of its own', "trap 'true' EXIT; cd src; export A=1"],
        ['tracing', 'set -xv; cd src; export A=1'],
        ['set -u and an unset variable', 'cd src; export A=1; set -u; echo $nothing'],
        ['noclobber', 'set -C; cd src; export A=1'],
        ['a broken PATH', 'cd src; export A=1 PATH='],
        ['another locale', 'cd src; export A=1 LC_ALL=C; unset LANG'],
      ])('it is carried over after %s', async (_, command) => {
        await sh(command);
        expect((await sh('pwd; echo $A')).text).toBe('/workspace/src\n1\n');
      });

      test.each([
        ['exec', 'cd /tmp; export A=2; exec true'],
        ['kill', 'cd /tmp; export A=2; kill -9 $$'],
        ['a syntax error', 'cd /tmp; export A=2; if'],
      ])('after %s the state before is kept', async (_, command) => {
        await sh('cd src; export A=1');
        await sh(command);
        expect((await sh('pwd; echo $A')).text).toBe('/workspace/src\n1\n');
      });

      test('after a timeout the state before is kept', async () => {
        await sh('cd src; export A=1');
        expect((await sh('cd /tmp; export A=2; sleep 60', { timeoutMs: 200 })).kind).toBe(
          'timeout',
        );
        expect((await sh('pwd; echo $A')).text).toBe('/workspace/src\n1\n');
      });

      test('a directory that is gone: a note, and back to the workspace', async () => {
        await sh('mkdir gone; cd gone');
        await sh('rm -r /workspace/gone');
        const note =
          '(the working directory /workspace/gone no longer exists; back in /workspace)\n';
        expect((await sh('pwd')).text).toBe(`${note}/workspace\n`);
        expect((await sh('pwd')).text).toBe('/workspace\n');
      });

      test('odd directory names', async () => {
        const name = ` -odd'\n"$x\\`;
        await sh(`mkdir -p './${name.replace("'", "'\\''")}'; cd ' '*`);
        expect((await sh('pwd')).text).toBe(`/workspace/${name}\n`);
        await sh('cd ..; rm -r " "*');
      });

      test('restart forgets it and ends background processes', async () => {
        await sh('cd src; export A=1; sleep 3177 &');
        await session.restartShell();
        expect(
          (await sh('pwd; echo "${A-gone}"; ps -e -o args= | grep -c "[s]leep 3177"')).text,
        ).toBe('/workspace\ngone\n0\n');
      });

      test('programs run by us neither see nor change it', async () => {
        await sh('cd src; export A=1');
        const result = await session.run(
          { argv: ['bash', '-c', 'pwd; echo "${A-unset} $B"; cd /tmp'], env: { B: 'b c' } },
          { timeoutMs: 5000, maxOutputBytes: 1000 },
        );
        expect(shown(result).text).toBe('/workspace\nunset b c\n');
        expect((await sh('pwd')).text).toBe('/workspace/src\n');
      });
    });

    describe('processes', () => {
      test('a background process lives on, holds nothing open and prints into no later call', async () => {
        await prompt(async () => {
          await session.restartShell();
          const first = await sh(
            '(for i in $(seq 2000); do echo noise; date +%N > beat.new; mv beat.new beat; sleep 0.02; done) & echo started',
          );
          expect(first.text).toMatch(/^(noise\n)?started\n/);
          return first.ms;
        });
        const second = await sh(
          'until [ -s beat ]; do sleep 0.05; done; cat beat; sleep 1; cat beat',
        );
        expect(second.text).toMatch(/^\d+\n\d+\n$/);
        expect(new Set(second.text.trim().split('\n')).size).toBe(2);
      });

      test('a background process that prints without end', async () => {
        await sh('yes & yes >&2 &');
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect((await sh('echo clean')).text).toBe('clean\n');
        expect((await sh('echo clean')).text).toBe('clean\n');
      });

      test('it still runs after many calls', async () => {
        await sh('setsid sleep 3179 &');
        for (let index = 0; index < 5; index++) await sh('true');
        expect((await sh('ps -e -o args= | grep -c "[s]leep 3179"')).text).toBe('1\n');
      });

      test('a server in the background answers the next call', async () => {
        await sh(`python3 -c "
import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
open('/tmp/port-$PPID' if False else 'port', 'w').write(str(s.getsockname()[1]))
while True:
    c, _ = s.accept(); print('log'); c.sendall(b'hello'); c.close()
" & for i in $(seq 100); do [ -s port ] && break; sleep 0.05; done`);
        expect((await sh('exec 5<>/dev/tcp/127.0.0.1/$(cat port); cat <&5; rm port')).text).toBe(
          'hello',
        );
      });

      const everything =
        'echo before; sleep 3180 & setsid sleep 3180 & (setsid bash -c "sleep 3180 & disown; exit" &); trap "" TERM INT HUP; sleep 3180';

      test('a timeout keeps what was printed and leaves no process, setsid included', async () => {
        await prompt(async () => {
          const result = await sh(everything, { timeoutMs: 300 });
          expect(result).toMatchObject({ kind: 'timeout', text: 'before\n' });
          expect((await sh('ps -e -o args= | grep -c "[s]leep 3180"')).text).toBe('0\n');
          return result.ms - 300;
        });
      });

      test('cancelling ends it at once', async () => {
        await prompt(async () => {
          const controller = new AbortController();
          let aborted = 0;
          const running = sh(everything, {
            signal: controller.signal,
            // Once it runs, everything that it starts is on its way.
            onOutput: () =>
              setTimeout(() => {
                aborted ||= performance.now();
                controller.abort();
              }, 200),
          });
          expect(await running).toMatchObject({ kind: 'cancelled', text: 'before\n' });
          const took = performance.now() - aborted;
          expect((await sh('ps -e -o args= | grep -c "[s]leep 3180"')).text).toBe('0\n');
          return took;
        });
      });

      test('cancelling at any moment', async () => {
        for (const delay of [0, 1, 2, 3, 5, 8, 12, 20]) {
          await prompt(async () => {
            const controller = new AbortController();
            setTimeout(() => controller.abort(), delay);
            const started = performance.now();
            const result = await sh('echo x; sleep 0.01; true', { signal: controller.signal });
            const took = performance.now() - started;
            expect(['exited', 'cancelled']).toContain(result.kind);
            expect((await sh('echo next')).text).toBe('next\n');
            return took;
          });
        }
      });

      test('a call that waits for its turn can be cancelled', async () => {
        const controller = new AbortController();
        const first = sh('sleep 0.5; echo first');
        const second = sh('touch never', { signal: controller.signal });
        controller.abort();
        expect((await second).kind).toBe('cancelled');
        expect((await first).text).toBe('first\n');
        expect((await sh('ls never 2>&1')).text).toMatch(/No such file/);
      });

      test('calls at the same time run one after another', async () => {
        const results = await Promise.all(
          ['a', 'b', 'c'].map((x) => sh(`echo ${x}; sleep 0.05; echo ${x}`)),
        );
        expect(results.map(({ text }) => text)).toEqual(['a\na\n', 'b\nb\n', 'c\nc\n']);
      });

      test('a flood that is timed out leaves the next call healthy', async () => {
        await prompt(async () => {
          const result = await sh('yes', { timeoutMs: 300, maxOutputBytes: 1000 });
          expect(result.kind).toBe('timeout');
          expect(result.text.startsWith('y\ny\n')).toBe(true);
          return result.ms - 300;
        });
      });

      test('zombies are reaped', async () => {
        await sh('for i in 1 2 3 4 5; do (true & exec sleep 0.05) & done; (setsid true &)');
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(
          (await sh(`ps -o stat= --ppid ${promises.isolated ? 1 : '$PPID'} | grep -c ^Z; true`))
            .text,
        ).toBe('0\n');
      });

      test('cat that is killed (as by `pkill cat`) does not lose the call', async () => {
        const { text, kind } = await sh(
          'pid=$(ps -e -o pid=,ppid=,comm= | grep "cat$" | sort -n | tail -1 | cut -c1-7); kill $pid; sleep 0.5; echo on; seq 100000 | tail -1',
        );
        expect(kind).toBe('exited');
        expect(text).toMatch(/100000\n$/);
      });

      if (promises.isolated) {
        test('a command that kills everything it can', async () => {
          await prompt(async () => {
            const result = await sh('echo a; sleep 0.2; kill -9 -1; sleep 60');
            expect(result).toMatchObject({ kind: 'exited', code: 137, text: 'a\n' });
            return result.ms - 200;
          });
        });

        test('signals to process 1 do nothing', async () => {
          const result = await sh(
            'for s in INT TERM HUP QUIT USR1 USR2 PIPE ALRM CHLD STOP KILL TSTP; do kill -$s 1; done; echo alive',
          );
          expect(result.text).toBe('alive\n');
        });

        test('process 1 can be neither read nor traced: control lines cannot be forged', async () => {
          const { text } = await sh(`p='
import ctypes, os
def attempt(what, f):
    try: print(what, "SUCCEEDED", f())
    except OSError as e: print(what, e.strerror)
libc = ctypes.CDLL(None, use_errno=True)
def ptrace(pid):
    if libc.ptrace(16, pid, 0, 0) != 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
parent = [l for l in open(f"/proc/{os.getppid()}/status") if l.startswith("PPid:")][0].split()[1]
for pid in {"1", parent}:
    for fd in range(4): attempt(f"fd {pid}", lambda: os.open(f"/proc/{pid}/fd/{fd}", os.O_WRONLY))
    for name in ("mem", "environ", "maps", "stack", "auxv"): attempt(f"{name} {pid}", lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
    attempt(f"ptrace {pid}", lambda: ptrace(int(pid)))
attempt("copy", lambda: open("/run/prime/bash", "rb"))
attempt("chmod", lambda: os.chmod("/run/prime/bash", 0o755))
'
python3 -c "$p"; true`);
          const lines = text.trim().split('\n');
          expect(lines).toHaveLength(2 * 10 + 2);
          for (const line of lines) {
            expect(line).toMatch(
              /(Permission denied|Operation not permitted|Read-only file system)$/,
            );
          }
        });

        test('a fork bomb is bounded, can be ended, and the next call is healthy', async () => {
          await prompt(async () => {
            const result = await sh('bomb() { bomb | bomb & }; bomb; sleep 60', { timeoutMs: 700 });
            expect(['timeout', 'exited']).toContain(result.kind);
            return result.ms - 700;
          }, 2_000);
        });

        test('the number of processes is limited', async () => {
          const { text } = await sh(`python3 -c "
import os, time
n = 0
try:
    while n < 2000:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        n += 1
except OSError as e: print(e.strerror, n)
"`);
          expect(text).toMatch(/^Resource temporarily unavailable \d+\n$/);
          // Some numbers are reserved: the kernel's own limit is a little higher.
          expect(Number(text.split(' ').pop())).toBeLessThan(fixture.spec.limits.processes + 20);
          await session.restartShell();
        });
      }
    });

    describe('programs', () => {
      const run = async (
        argv: readonly string[],
        more: { stdin?: Uint8Array; capture?: 'merge' | 'stdout'; cwd?: string } = {},
      ): Promise<Shown & { bytes: Uint8Array }> => {
        const result = await session.run(
          { argv, ...more },
          { timeoutMs: 10_000, maxOutputBytes: 4_000_000 },
        );
        return { ...shown(result), bytes: result.output.head };
      };

      test('arguments arrive byte for byte', async () => {
        const argv = ['-e', '', 'a b', "it's", '$HOME', '`x`', '\\', 'new\nline', '*', '\u00e9'];
        const { text } = await run(['printf', '<%s>', ...argv]);
        expect(text).toBe(argv.map((word) => `<${word}>`).join(''));
      });

      test('stdin of any bytes', async () => {
        const stdin = Buffer.alloc(1_000_000, 0).map((_, index) => index % 251);
        const result = await run(['cat'], { stdin });
        expect(Buffer.compare(Buffer.from(result.bytes), stdin)).toBe(0);
        expect((await run(['head', '-c', '1'], { stdin })).bytes).toHaveLength(1);
        expect((await run(['cat'])).text).toBe('');
        expect((await run(['cat'], { stdin: new Uint8Array(0) })).text).toBe('');
      });

      test('stderr is merged or thrown away', async () => {
        const argv = ['bash', '-c', 'echo out; echo err >&2; exit 9'];
        expect(await run(argv)).toMatchObject({ text: 'out\nerr\n', code: 9 });
        expect(await run(argv, { capture: 'stdout' })).toMatchObject({ text: 'out\n', code: 9 });
      });

      test('a missing program, folder or variable name is told apart', async () => {
        expect(await run(['nosuchprogram'])).toMatchObject({
          code: 127,
          text: 'nosuchprogram: command not found\n',
        });
        expect((await run(['true'], { cwd: '/nope' })).code).toBe(126);
        const odd = await session.run(
          { argv: ['true'], env: { 'a-b': '1' } },
          { timeoutMs: 1000, maxOutputBytes: 100 },
        );
        expect(shown(odd).code).toBe(2);
      });

      test('what it leaves running does not print into the next', async () => {
        await run(['bash', '-c', 'yes noise & echo done']);
        expect((await run(['echo', 'clean'])).text).toBe('clean\n');
      });
    });

    describe('environment', () => {
      test('only what is given, made for programs', async () => {
        const { text } = await sh('env -0 | sort -z | tr "\\0" "\\n"');
        const names = text
          .trim()
          .split('\n')
          .map((line) => line.split('=')[0]);
        const known = [
          'CI',
          'GIT_PAGER',
          'HOME',
          'LANG',
          'LC_ALL',
          'LESS',
          'LOGNAME',
          'MANPAGER',
          'NO_COLOR',
          'OLDPWD',
          'PAGER',
          'PATH',
          'PIP_PROGRESS_BAR',
          'PWD',
          'SHELL',
          'SHLVL',
          'TERM',
          'TMPDIR',
          'TQDM_DISABLE',
          'USER',
          '_',
          ...(promises.isolated ? [] : ['PRIME_SANDBOX']),
        ];
        for (const name of names) expect(known).toContain(name);
        expect(text).toMatch(/^LC_ALL=C.UTF-8$/m);
        expect(text).toMatch(/^CI=1$/m);
      });

      test('HOME exists and is empty', async () => {
        expect((await sh('cd ~ && ls -A | wc -l && touch x && rm x')).text).toBe('0\n');
      });
    });

    describe('files', () => {
      const read = async (path: string): Promise<string> =>
        Buffer.from(await session.files.read(path, 1 << 20)).toString();
      const code = async (promise: Promise<unknown>): Promise<string> => {
        try {
          await promise;
          return 'none';
        } catch (error) {
          if (error instanceof SandboxFileError) return error.code;
          throw error;
        }
      };

      test.each([
        'plain.txt',
        'with space',
        'quote\'"s',
        'new\nline',
        '-dash',
        '$HOME',
        '*',
        'back\\slash',
        'é\u{1f600}',
        'trailing\n',
        'a;b&c|d',
        'deep/er/still',
      ])('writes, reads, inspects, lists and removes %j', async (name) => {
        const path = `/workspace/files/${name}`;
        const content = Buffer.from([0, 1, 255, 10, 13, 128]);
        await session.files.write(path, content);
        expect(Buffer.compare(Buffer.from(await session.files.read(path, 100)), content)).toBe(0);
        expect(await session.files.inspect(path)).toEqual({
          kind: 'file',
          realPath: path,
          isSymlink: false,
          size: 6,
          mode: 0o644,
        });
        expect(
          (await session.files.list('/workspace/files', 3, 100)).map((entry) => entry.path),
        ).toContain(path);
        await session.files.remove(path);
        expect((await session.files.inspect(path)).kind).toBe('missing');
        await session.files.remove('/workspace/files');
      });

      test.each([
        ['nothing', ''],
        ['text without a final newline', 'a'],
        ['text with final newlines', 'a\n\n\n'],
        ['a BOM and carriage returns', '\ufeffa\r\nb\r'],
        ['quotes and backslashes', `'"\\\\n%s$x\`y\``],
        ['control characters', '\u0001\u0002\u007f\u001b\u0080\u2028'],
        ['a dash', '-n'],
        ['more than fits into a request', 'x'.repeat(70_000)],
      ])('content of every kind: %s', async (_, content) => {
        await session.files.write('/workspace/content', Buffer.from(content));
        expect(await read('/workspace/content')).toBe(content);
      });

      test('a write keeps the mode and is seen by the shell', async () => {
        await sh('printf x > mode; chmod 750 mode');
        await session.files.write('/workspace/mode', Buffer.from('new\n'));
        expect((await sh('stat -c %a mode; cat mode; ls -A | grep prime; rm mode')).text).toBe(
          '750\nnew\n',
        );
      });

      test('a write goes through links to their target', async () => {
        await sh('mkdir d; echo old > d/target; ln -s d/target link; ln -s link link2');
        await session.files.write('/workspace/link2', Buffer.from('new\n'));
        expect((await sh('cat d/target; readlink link2')).text).toBe('new\nlink\n');
        expect(await session.files.inspect('/workspace/link2')).toMatchObject({
          kind: 'file',
          isSymlink: true,
          realPath: '/workspace/d/target',
        });
        await sh('rm -r d link link2');
      });

      test('odd kinds', async () => {
        await sh('ln -s loop loop; ln -s /workspace/nothing dangling; mkfifo pipe; mkdir dir');
        expect(await session.files.inspect('/workspace/dangling')).toMatchObject({
          kind: 'missing',
          isSymlink: true,
          realPath: '/workspace/nothing',
        });
        expect((await session.files.inspect('/workspace/pipe')).kind).toBe('other');
        expect((await session.files.inspect('/workspace/dir')).kind).toBe('directory');
        expect((await session.files.inspect('/workspace/a.txt/below')).kind).toBe('missing');
        expect(await code(session.files.inspect('/workspace/loop'))).toBe('other');
        expect(await code(session.files.read('/workspace/pipe', 10))).toBe('not-a-file');
        expect(await code(session.files.read('/workspace/dir', 10))).toBe('not-a-file');
        expect(await code(session.files.write('/workspace/dir', Buffer.from('')))).toBe(
          'not-a-file',
        );
        expect(await code(session.files.read('/workspace/nope', 10))).toBe('missing');
        expect(await code(session.files.read('/workspace/a.txt', 1))).toBe('too-large');
        expect(await read('/workspace/a.txt')).toBe('a\n');
        expect(await code(session.files.remove('/workspace/nope'))).toBe('missing');
        expect(await code(session.files.list('/workspace/a.txt', 1, 10))).toBe('not-a-file');
        await sh('rm -r loop dangling pipe dir');
      });

      test('a list is sorted, bounded and without hidden entries', async () => {
        await sh('mkdir -p l/b/c l/.hidden; touch l/a l/b/x l/b/c/deep l/.h; ln -s a l/z');
        expect(await session.files.list('/workspace/l', 2, 100)).toEqual([
          { path: '/workspace/l/a', kind: 'file' },
          { path: '/workspace/l/b', kind: 'directory' },
          { path: '/workspace/l/b/c', kind: 'directory' },
          { path: '/workspace/l/b/x', kind: 'file' },
          { path: '/workspace/l/z', kind: 'symlink' },
        ]);
        expect(await session.files.list('/workspace/l', 2, 2)).toHaveLength(2);
        await sh('rm -r l');
      });

      test('a read of several megabytes', async () => {
        const content = Buffer.alloc(5_000_000, 'x');
        await session.files.write('/workspace/big', content);
        expect(await session.files.read('/workspace/big', 6_000_000)).toHaveLength(5_000_000);
        await session.files.remove('/workspace/big');
      });

      test('a full disk is told', async () => {
        expect(await code(session.files.write('/dev/full', Buffer.from('x')))).toMatch(
          /no-space|not-a-file/,
        );
      });

      if (promises.isolated) {
        test('no permission is told', async () => {
          expect(await code(session.files.write('/usr/new', Buffer.from('x')))).toBe('permission');
          expect(await code(session.files.write('/new', Buffer.from('x')))).toBe('permission');
          await sh('echo x > ro; chmod 400 ro; echo y > closed; chmod 0 closed');
          expect(await code(session.files.write('/workspace/ro', Buffer.from('x')))).toBe(
            'permission',
          );
          expect(await code(session.files.read('/workspace/closed', 10))).toBe('permission');
          await sh('rm -f ro closed');
        });
      }
    });

    describe('closing', () => {
      test('during a call, twice: the call is cancelled and nothing is left', async () => {
        const before = left();
        await prompt(async () => {
          const other = await provider.open(fixture.spec);
          await shell(
            other,
            'mkdir -p closed/deep; touch closed/deep/x; chmod 500 closed closed/deep',
          );
          const running = shell(other, 'echo a; setsid sleep 3181 & sleep 3181');
          await new Promise((resolve) => setTimeout(resolve, 100));
          const started = performance.now();
          await Promise.all([other.close(), other.close()]);
          const took = performance.now() - started;
          expect((await running).kind).toBe('cancelled');
          await expect(shell(other, 'true')).rejects.toBeInstanceOf(SandboxFailure);
          expect(left()).toEqual(before);
          return took;
        }, 2_000);
      });

      test('sessions do not see each other', async () => {
        const other = await provider.open(fixture.spec);
        try {
          await Promise.all([sh('echo mine > a.txt'), shell(other, 'echo theirs > a.txt')]);
          expect((await sh('cat a.txt; git checkout -q a.txt')).text).toBe('mine\n');
          expect((await shell(other, 'cat a.txt')).text).toBe('theirs\n');
        } finally {
          await other.close();
        }
      });

      test('opening can be cancelled', async () => {
        const before = left();
        const controller = new AbortController();
        controller.abort();
        await expect(provider.open(fixture.spec, controller.signal)).rejects.toThrow();
        expect(left()).toEqual(before);
      });
    });
  });
}
