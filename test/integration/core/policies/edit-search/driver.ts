import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Message } from '../../../../../src/core/agent/messages.ts';
import type { Policy } from '../../../../../src/core/policies/policy.ts';

/**
 * Plays the loop and the tools for one attempt, by their contract: it really edits files in a folder
 * and really runs `node --test` or pytest there. So the policy is tested apart from sandbox and loop.
 */
export interface Played {
  /** undefined: never submitted. */
  readonly summary: string | undefined;
  readonly turns: number;
  readonly testRuns: number;
  readonly messages: readonly Message[];
  /** Files after the attempt. */
  readonly files: Readonly<Record<string, string>>;
}

export interface PlaySetup {
  readonly files: Readonly<Record<string, string>>;
  readonly targets: readonly string[];
  readonly policy: Policy;
  readonly seed?: number;
  readonly turns?: number;
  /** Characters of a view; the real editor cuts as well. */
  readonly viewLines?: number;
}

export async function play(setup: PlaySetup): Promise<Played> {
  const root = mkdtempSync(join(tmpdir(), 'edit-search-'));
  try {
    for (const [path, text] of Object.entries(setup.files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await playIn(root, setup);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function playIn(root: string, setup: PlaySetup): Promise<Played> {
  const { targets, viewLines = 400 } = setup;
  const undo: { path: string; before: string }[] = [];
  let testRuns = 0;
  let summary: string | undefined;

  const runTests = (tests: readonly string[]): string => {
    testRuns += 1;
    return render(runAll(root, tests));
  };
  const edit = (args: Readonly<Record<string, unknown>>): string => {
    const path = String(args.path).replace(/^\/workspace\//, '');
    const file = join(root, path);
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      return `${path} does not exist.`;
    }
    if (args.command === 'view') {
      const [first = 1, last = -1] = (args.view_range ?? []) as number[];
      const lines = text.replace(/\n$/, '').split('\n');
      const end = Math.min(last === -1 ? lines.length : last, first - 1 + viewLines, lines.length);
      const shown = lines
        .slice(first - 1, end)
        .map((line, index) => `${String(first + index).padStart(6)}\t${line}`);
      const wanted = last === -1 ? lines.length : last;
      if (end < wanted) {
        shown.push(
          `[lines ${first}-${end} of ${lines.length}; to see more, view with view_range [${end + 1}, ${end + viewLines}]]`,
        );
      }
      return shown.join('\n');
    }
    if (args.command === 'undo_edit') {
      const at = undo.findLastIndex((entry) => entry.path === path);
      const [entry] = at < 0 ? [] : undo.splice(at, 1);
      if (entry === undefined) return `There is no edit of ${path} to undo.`;
      writeFileSync(file, entry.before);
      return `Undid the last edit of ${path}.`;
    }
    const [oldText, newText] = [String(args.old_str), String(args.new_str)];
    const parts = text.split(oldText);
    if (parts.length !== 2) return `old_str occurs ${parts.length - 1} times in ${path}.`;
    undo.push({ path, before: text });
    writeFileSync(file, parts.join(newText));
    return `Edited ${path}:\n…`;
  };

  const messages: Message[] = [
    { role: 'system', content: 'You fix failing tests.' },
    { role: 'user', content: `Make this failing test pass.\n\n${render(runAll(root, targets))}` },
  ];
  const session = await setup.policy.start(setup.seed ?? 0);
  const signal = new AbortController().signal;
  let turns = 0;
  while (summary === undefined && turns < (setup.turns ?? 150)) {
    turns += 1;
    const reply = await session.next({
      messages: [...messages],
      tools: [],
      maxTokens: 1_000,
      signal,
    });
    const { content, calls, callForm } = reply;
    messages.push({ role: 'assistant', content, calls, callForm });
    if (calls.length === 0) break;
    for (const call of calls) {
      const args = call.arguments;
      let text = '';
      if (call.name === 'str_replace_editor') text = edit(args);
      else if (call.name === 'run_tests') text = runTests((args.tests as string[]) ?? targets);
      else if (call.name === 'bash') text = shell(root, String(args.command));
      else if (call.name === 'submit') {
        summary = String(args.summary);
        break;
      }
      messages.push({ role: 'tool', callId: call.id, name: call.name, content: text });
    }
  }
  await session.close();
  const files = Object.fromEntries(
    Object.keys(setup.files).map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
  return { summary, turns, testRuns, messages, files };
}

function shell(root: string, command: string): string {
  const result = spawnSync('bash', ['-c', command.replaceAll('/workspace', root)], {
    encoding: 'utf8',
  });
  const output = `${result.stdout}${result.stderr}`.trimEnd();
  return [
    output || '(no output)',
    ...(result.status === 0 ? [] : [`[exit code ${result.status}]`]),
  ].join('\n');
}

interface Result {
  readonly id: string;
  readonly status: 'passed' | 'failed' | 'error';
  readonly lines: readonly string[];
}

function runAll(root: string, tests: readonly string[]): readonly Result[] {
  const byFile = new Map<string, string[]>();
  for (const test of tests) {
    const [file = '', ...rest] = test.split('::');
    const names = byFile.get(file) ?? [];
    if (rest.length > 0) names.push(test);
    byFile.set(file, names);
  }
  return [...byFile].flatMap(([file, ids]) => {
    const results = file.endsWith('.py') ? runPytest(root, file) : runNode(root, file);
    if (ids.length === 0) return results;
    const wanted = results.filter((result) => ids.includes(result.id));
    return wanted.length > 0 ? wanted : results.filter((result) => result.status === 'error');
  });
}

const NODE_REPORTER = `
export default async function* (source) {
  const suites = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') suites.splice(data.nesting, suites.length, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details?.type === 'suite') continue;
    const error = data.details?.error?.cause ?? data.details?.error;
    yield JSON.stringify({ name: [...suites.slice(0, data.nesting), data.name].join(' > '), ok: type === 'test:pass', message: error?.message ?? show(error),
      kind: error?.name, assertion: error?.code === 'ERR_ASSERTION', expected: show(error?.expected), actual: show(error?.actual), stack: error?.stack ?? '' }) + '\\n';
  }
}
import { inspect } from 'node:util';
function show(value) { return inspect(value, { breakLength: 120 }); }
`;

function runNode(root: string, file: string): readonly Result[] {
  const reporter = join(root, '.reporter.mjs');
  writeFileSync(reporter, NODE_REPORTER);
  const run = spawnSync(
    process.execPath,
    ['--test', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout', file],
    { cwd: root, encoding: 'utf8', timeout: 3_000, env: { PATH: process.env.PATH } },
  );
  const results: Result[] = [];
  for (const line of run.stdout.split('\n')) {
    if (!line.startsWith('{')) continue;
    const test = JSON.parse(line);
    // A file that cannot be loaded is reported as a test with the file's name.
    if (String(test.name).endsWith(file)) {
      if (!test.ok) results.push({ id: file, status: 'error', lines: [`  ${test.message}`] });
      continue;
    }
    const frames = [
      ...String(test.stack).matchAll(
        /at (?:(?:async )?(\S+) \()?(?:file:\/\/)?([^\s()]+):(\d+):\d+/g,
      ),
    ];
    const own = frames
      .filter((frame) => frame[2]?.startsWith(root))
      .map((frame) => [frame[2]?.slice(root.length + 1), frame[3], frame[1]]);
    const at = own.find(([path]) => path === file);
    const inside = own.find(([path]) => path !== file);
    results.push({
      id: `${file}::${test.name}`,
      status: test.ok ? 'passed' : 'failed',
      lines: [
        ...(test.assertion
          ? [`  expected: ${indent(test.expected)}`, `  actual: ${indent(test.actual)}`]
          : [`  ${test.kind}: ${indent(test.message)}`]),
        ...(at ? [`  at ${at[0]}:${at[1]}`] : []),
        ...(inside ? [`  in ${inside[0]}:${inside[1]}${inside[2] ? ` (${inside[2]})` : ''}`] : []),
      ],
    });
  }
  if (results.length === 0) results.push(noReport(file, run.signal !== null));
  return results;
}

function noReport(file: string, timedOut: boolean): Result {
  const line = timedOut ? '  it took too long' : '  the run ended without a report';
  return { id: file, status: 'error', lines: [line] };
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

const PYTEST_PLUGIN = `
import json, sys
def pytest_runtest_logreport(report):
    if report.when != 'call' and report.passed:
        return
    crash = getattr(report.longrepr, 'reprcrash', None)
    print('\\n@@' + json.dumps({'id': report.nodeid, 'ok': report.passed,
        'message': crash.message if crash else str(report.longrepr)[:300],
        'frames': [[e.reprfileloc.path, e.reprfileloc.lineno] for e in getattr(getattr(report.longrepr, 'reprtraceback', None), 'reprentries', []) if getattr(e, 'reprfileloc', None)]}))
def pytest_collectreport(report):
    if report.failed:
        print('\\n@@' + json.dumps({'id': report.nodeid, 'ok': False, 'error': True, 'message': str(report.longrepr)[-300:], 'frames': []}))
`;

function runPytest(root: string, file: string): readonly Result[] {
  writeFileSync(join(root, 'played_plugin.py'), PYTEST_PLUGIN);
  const run = spawnSync(
    'python3',
    ['-m', 'pytest', '-q', '-s', '-p', 'played_plugin', '-p', 'no:cacheprovider', file],
    {
      cwd: root,
      encoding: 'utf8',
      timeout: 8_000,
      env: {
        PATH: process.env.PATH,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: `${root}:${join(root, 'src')}`,
      },
    },
  );
  if (/No module named pytest/.test(run.stderr))
    throw new Error('pytest is missing: pip install pytest');
  const results: Result[] = [];
  for (const line of run.stdout.split('\n')) {
    if (!line.startsWith('@@')) continue;
    const test = JSON.parse(line.slice(2));
    const [, left, right] = /^(?:AssertionError: )?assert (.+) == (.+)$/m.exec(test.message) ?? [];
    const frames = test.frames as [string, number][];
    const at = frames.find(([path]) => path === file);
    const inside = frames.findLast(([path]) => path !== file && !path.startsWith('/'));
    results.push({
      id: test.id,
      status: test.ok ? 'passed' : test.error ? 'error' : 'failed',
      lines: [
        ...(left !== undefined
          ? [`  expected: ${right}`, `  actual: ${left}`]
          : [`  ${indent(test.message)}`]),
        ...(at ? [`  at ${at[0]}:${at[1]}`] : []),
        ...(inside ? [`  in ${inside[0]}:${inside[1]}`] : []),
      ],
    });
  }
  if (results.length === 0) results.push(noReport(file, run.signal !== null));
  return results;
}

function render(results: readonly Result[]): string {
  const count = (status: Result['status']) =>
    results.filter((result) => result.status === status).length;
  const [failed, passed, errors] = [count('failed'), count('passed'), count('error')];
  const summary = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(errors > 0 ? [`${errors} file${errors === 1 ? '' : 's'} could not be loaded`] : []),
    ...(passed > 0 ? [`${passed} passed`] : []),
  ].join(', ');
  const blocks = results
    .filter((result) => result.status !== 'passed')
    .map((result) =>
      [`${result.status === 'error' ? 'ERROR' : 'FAIL'} ${result.id}`, ...result.lines].join('\n'),
    );
  return [summary, ...blocks].join('\n\n');
}
