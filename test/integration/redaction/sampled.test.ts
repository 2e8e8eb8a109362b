import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runLoop } from '../../../src/core/agent/loop.ts';
import { createScriptedPolicy, type Script } from '../../../src/core/policies/scripted.ts';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { createBashTool } from '../../../src/core/tools/bash/bash.ts';
import { createEditorTool } from '../../../src/core/tools/editor/editor.ts';
import { createSubmitTool } from '../../../src/core/tools/submit.ts';
import type { Tool } from '../../../src/core/tools/tool.ts';
import { createTrajectoryStore } from '../../../src/core/trajectories/store.ts';
import type { Trajectory } from '../../../src/core/trajectories/trajectory.ts';
import { uploadable } from '../../../src/core/trajectories/uploadable.ts';
import { randomSecret } from '../../unit/core/redaction/generate.ts';
import { end, header } from '../../unit/core/trajectories/make.ts';

/** What happens around redacted places, in a real attempt without isolation. */

let folder: string;
let workspace: string;
const secret = randomSecret(24);
const redactor = createRedactor({ extraSecrets: [secret] });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prime-sampled-'));
  workspace = join(folder, 'shop');
  await mkdir(workspace);
  await writeFile(join(workspace, 'client.js'), `const token = '${secret}';\nconst retries = 3;\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Attempt {
  readonly trajectory: Trajectory;
  readonly file: string;
}

async function attempt(attemptId: string, script: Script): Promise<Attempt> {
  const stateDir = join(folder, 'state');
  const made = await makeBase(workspace, { stateDir });
  if (made.kind !== 'base') throw new Error(made.reason);
  const store = createTrajectoryStore(join(folder, 'trajectories'));
  const sink = await store.create({ workspacePath: workspace, attemptId, redactor });
  const session = await createNoneSandbox({ stateDir }).open({
    base: made.base,
    toolchain: { path: [], mounts: [], env: {} },
    toolbox: {},
    limits: { processes: 256, fileBytes: 1e8 },
  });
  try {
    const opening = header({ attemptId });
    await sink.append(opening);
    const result = await runLoop({
      policy: createScriptedPolicy(script),
      tools: [
        createBashTool(session),
        createEditorTool(session),
        createSubmitTool(),
      ] as unknown as readonly Tool[],
      messages: opening.messages,
      budgets: { ...opening.budgets, contextTokens: 1e6, generatedTokens: 1e6 },
      rules: 'lenient',
      seed: 0,
      redactor,
      sink,
      signal: new AbortController().signal,
    });
    await sink.append(end({ localOnly: result.localOnly, patch: '' }));
    const { path } = sink;
    const found = await store.find(attemptId);
    if (found.kind !== 'found') throw new Error(`${path} is not in the store`);
    const file = await session.files.read('/workspace/client.js', 1e5);
    return {
      trajectory: await store.read(found.attempt),
      file: Buffer.from(file).toString('utf8'),
    };
  } finally {
    await session.close();
    await sink.close();
    await made.base.release();
  }
}

const edit = (old_str: string, new_str: string) => ({
  calls: [
    {
      name: 'str_replace_editor',
      arguments: { command: 'str_replace', path: '/workspace/client.js', old_str, new_str },
    },
  ],
});
const submit = { calls: [{ name: 'submit', arguments: {} }] };

test('an edit of a redacted place fails as an observation, next to it edits work', async () => {
  const { trajectory, file } = await attempt('edits', [
    { calls: [{ name: 'bash', arguments: { command: 'cat client.js' } }] },
    edit("const token = '[redacted:secret]';", "const token = 'x';"),
    edit('const retries = 3;', 'const retries = 5;'),
    submit,
  ]);
  const [seen, refused, done] = trajectory.turns.map((turn) => turn.observations[0]);
  expect(seen?.content).toBe("const token = '[redacted:secret]';\nconst retries = 3;");
  expect(refused?.ok).toBe(false);
  expect(done?.ok).toBe(true);
  expect(file).toBe(`const token = '${secret}';\nconst retries = 5;\n`);
  expect(await uploadable(trajectory, redactor)).toEqual([]);
});

test('a secret in what the policy wrote stays as sampled and keeps the record here', async () => {
  const { trajectory } = await attempt('sampled', [
    { content: `I know it: ${secret}`, calls: [{ name: 'bash', arguments: { command: 'true' } }] },
    submit,
  ]);
  expect(trajectory.turns[0]?.reply.content).toBe(`I know it: ${secret}`);
  expect(trajectory.end?.localOnly).toBe(true);
  expect(await uploadable(trajectory, redactor)).toEqual([
    { kind: 'local-only' },
    { kind: 'secret-found', where: 'turn 0' },
  ]);
});

test('a secret in the arguments of a call alone is noticed too', async () => {
  const { trajectory } = await attempt('arguments', [
    { calls: [{ name: 'bash', arguments: { command: `echo ${secret}` } }] },
    submit,
  ]);
  expect(trajectory.turns[0]?.observations[0]?.content).toBe('[redacted:secret]');
  expect(trajectory.end?.localOnly).toBe(true);
});

test('the user’s own file was never touched', async () => {
  expect(await readFile(join(workspace, 'client.js'), 'utf8')).toBe(
    `const token = '${secret}';\nconst retries = 3;\n`,
  );
});
