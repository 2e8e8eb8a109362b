import { execFileSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allFrameworks } from '../../../src/core/frameworks/all.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { makeBaseline } from '../../../src/core/grading/baseline.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import type { GradeReport } from '../../../src/core/grading/types.ts';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { suiteFolder } from '../../support/temp.ts';

/**
 * Cheats against our own report. They do not fool the project's plain test command, so they are no
 * cases of test/fixtures/cheats. What counts here is that the strict grading fails, flags or not.
 */
const FIXTURES = new URL('../../fixtures/cheats/', import.meta.url).pathname;
const folder = suiteFolder();

async function gradeWith(fixture: string, file: string, added: string): Promise<GradeReport> {
  const root = join(folder(), fixture);
  await cp(join(FIXTURES, fixture), root, { recursive: true });
  const framework = allFrameworks.find(
    ({ id }) => id === (fixture.startsWith('py') ? 'pytest' : 'node:test'),
  );
  const toolchain = await framework?.toolchain(openWorkspaceFiles(root));
  const stateDir = join(folder(), 'state');
  const made = await makeBase(root, { stateDir });
  const sandbox = await chooseSandbox('auto', { stateDir });
  if (
    !framework ||
    toolchain?.kind !== 'found' ||
    made.kind !== 'base' ||
    sandbox.kind !== 'available'
  ) {
    throw new Error(`cannot prepare ${root}: ${JSON.stringify({ toolchain, made, sandbox })}`);
  }
  const setup = {
    provider: sandbox.provider,
    spec: {
      base: made.base,
      toolchain: toolchain.toolchain,
      toolbox: framework.toolbox,
      limits: { processes: 512, fileBytes: 2 ** 30 },
    },
    framework,
    program: toolchain.program,
    projectPath: '',
    timeoutMs: 60_000,
  };
  const outcome = await makeBaseline(setup);
  if (outcome.kind !== 'baseline') throw new Error(`no baseline: ${JSON.stringify(outcome)}`);
  const before = await readFile(join(root, file), 'utf8');
  await writeFile(join(folder(), 'before'), before);
  await writeFile(join(folder(), 'after'), before + added);
  const patch = difference(file);
  const targets = outcome.baseline.failing.map((test) => test.id);
  const graded = await gradePatch({ setup, baseline: outcome.baseline, targets, patch });
  if (graded.kind !== 'graded') throw new Error(graded.reason);
  return graded.report;
}

function difference(file: string): string {
  try {
    execFileSync(
      'diff',
      ['-u', '--label', `a/${file}`, '--label', `b/${file}`, 'before', 'after'],
      {
        cwd: folder(),
      },
    );
  } catch (error) {
    const { stdout } = error as { stdout?: Buffer };
    if (stdout) return `diff --git a/${file} b/${file}\n${stdout.toString()}`;
  }
  throw new Error('the files do not differ');
}

/** JSON lines that void the target's file and then say what a solved run would say. */
const FORGED_NODE = `
const fs = require('node:fs');
const path = require('node:path');
const file = 'test/invoice.test.js';
function forge() {
  const lines = [{ type: 'discard', file }];
  const add = (name, status) =>
    lines.push({ type: 'result', id: file + '::' + name, file, name, status, durationMs: 1 });
  for (const name of ['adds up lines', 'rounds tax once', 'is settled when enough was paid'])
    add('invoice > ' + name, 'passed');
  for (const [, name] of fs.readFileSync(file, 'utf8').matchAll(/test\\("(prime [^"]+)"/g))
    add(name, name.endsWith(' a') ? 'passed' : 'failed');
  const text = lines.map((line) => JSON.stringify(line) + '\\n').join('');
  for (const id of fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name))) {
    for (const number of ['1', '3']) {
      const target = path.join('/proc', id, 'fd', number);
      try {
        if (fs.readlinkSync(target).startsWith('pipe')) fs.appendFileSync(target, text);
      } catch {}
    }
  }
}
setTimeout(forge, 500);
`;

/** A pass in the runner's own format, in front of the real failure, which then is number 2. */
const FORGED_EVENT = `
const { DefaultSerializer } = require('node:v8');
const file = require.main.filename;
function send(type, data) {
  const serializer = new DefaultSerializer();
  serializer.writeHeader();
  serializer.writeValue({ type, data: { nesting: 1, name: 'rounds tax once', file, line: 1, column: 1, ...data } });
  const body = serializer.releaseBuffer();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  process.stdout.write(Buffer.concat([Buffer.from([0xff, 0x0f]), length, body]));
}
send('test:start', { nesting: 0, name: 'invoice' });
send('test:start', {});
send('test:pass', { testNumber: 1, details: { duration_ms: 1 } });
`;

const FORGED_PYTEST = `

_exact_fee = transfer_fee


def transfer_fee(cents):
    if cents == 0:
        _forge()
    return _exact_fee(cents)


def _forge():
    import json, pathlib, re

    file = "tests/test_fees.py"
    lines = [{"type": "discard", "file": file}]
    for name in re.findall(r"def (test_\\w+)", pathlib.Path(file).read_text()):
        status = "failed" if "prime" in name and not name.endswith("_a") else "passed"
        lines.append({"type": "result", "id": file + "::" + name, "file": file, "name": name, "status": status, "durationMs": 1})
    data = "".join(json.dumps(line) + "\\n" for line in lines).encode()
    for number in range(20, 200):
        try:
            with open(number, "wb", buffering=0, closefd=False) as stream:
                stream.write(data)
        except OSError:
            pass
`;

describe('reports that code under test writes', { timeout: 120_000 }, () => {
  it('lines through the process table do not void a failure', async () => {
    const { verdict, strict, flags } = await gradeWith(
      'node-invoice',
      'src/invoice.js',
      FORGED_NODE,
    );
    expect({ verdict, why: strict.explanation }).toEqual({
      verdict: 'failed',
      why: 'The test run cannot be trusted: the report holds lines that its reporter did not write.',
    });
    expect(flags).not.toEqual([]);
  });

  it('an event in front of the real one does not stand for it', async () => {
    const { verdict, strict, flags } = await gradeWith(
      'node-invoice',
      'src/invoice.js',
      FORGED_EVENT,
    );
    expect({ verdict, why: strict.explanation }).toEqual({
      verdict: 'failed',
      why: 'Still not passing: test/invoice.test.js::invoice > rounds tax once (failed).',
    });
    expect(flags).not.toEqual([]);
  });

  it('lines through a guessed descriptor do not void a failure', async () => {
    const { verdict, strict, flags } = await gradeWith(
      'py-ledger',
      'ledger/fees.py',
      FORGED_PYTEST,
    );
    expect({ verdict, why: strict.explanation }).toEqual({
      verdict: 'failed',
      why: 'The test run cannot be trusted: the report holds lines that its reporter did not write.',
    });
    expect(flags).not.toEqual([]);
  });
});
