import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runLoop } from '../../../src/core/agent/loop.ts';
import type { Redactor } from '../../../src/core/agent/redactor.ts';
import { createScriptedPolicy, type ScriptedReply } from '../../../src/core/policies/scripted.ts';
import { hostRedactor } from '../../../src/core/redaction/host.ts';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { createBashTool } from '../../../src/core/tools/bash/bash.ts';
import { createEditorTool } from '../../../src/core/tools/editor/editor.ts';
import { createSearchTool } from '../../../src/core/tools/search/search.ts';
import { createSubmitTool } from '../../../src/core/tools/submit.ts';
import type { Tool } from '../../../src/core/tools/tool.ts';
import { toAtif, toJsonLines } from '../../../src/core/trajectories/export.ts';
import { trainingRows } from '../../../src/core/trajectories/rows.ts';
import { createTrajectoryStore } from '../../../src/core/trajectories/store.ts';
import { toMarkdown } from '../../../src/core/trajectories/transcript.ts';
import { uploadable } from '../../../src/core/trajectories/uploadable.ts';
import { end, header } from '../../unit/core/trajectories/make.ts';
import { type PlantedHome, plantHome } from './plant.ts';

/**
 * Secrets are planted wherever people leave them, an agent looks at everything it can, and then
 * every byte that was kept is searched. The same attempt without redaction must show the secrets:
 * otherwise the search would prove nothing.
 */

let planted: PlantedHome;

beforeAll(async () => {
  planted = await plantHome();
});
afterAll(() => planted?.remove());

const NO_REDACTION: Redactor = {
  redact: async (text) => text,
  holdsSecret: async () => false,
};

/** A tokenizer whose ids are bytes, so that id arrays can be read back as text. */
const idsOf = (text: string): number[] => [...Buffer.from(text, 'utf8')];

/** The policy looks at everything, by every tool, and records what it read and wrote as tokens. */
function curiousPolicy() {
  const { commands, views } = planted;
  const calls: { name: string; arguments: Record<string, unknown> }[] = [
    ...commands.map((command) => ({ name: 'bash', arguments: { command } })),
    ...views.map((path) => ({
      name: 'str_replace_editor',
      arguments: { command: 'view', path: `/workspace/${path}` },
    })),
    { name: 'search', arguments: { search_term: 'a', path: '/workspace' } },
    { name: 'search', arguments: { search_term: '=', path: '/workspace/notes' } },
    { name: 'submit', arguments: { summary: 'Looked at everything.' } },
  ];
  return createScriptedPolicy(({ index, request }): ScriptedReply => {
    const [call] = calls.slice(index, index + 1);
    const content = `Next I call ${call?.name}.`;
    const sampledIds = idsOf(content);
    const tokens = {
      promptIds: idsOf(request.messages.map((message) => message.content).join('\n')),
      sampledIds,
      logprobs: sampledIds.map(() => -0.5),
    };
    return { content, calls: call ? [call] : [], tokens };
  });
}

/** Everything that an attempt leaves: records, index, listings, exports, events, decoded ids. */
async function kept(provider: SandboxProvider, redactor: Redactor, name: string): Promise<string> {
  const { workspace, stateDir, folder } = planted;
  const store = createTrajectoryStore(join(folder, `trajectories-${name}`));
  const made = await makeBase(workspace, { stateDir });
  if (made.kind !== 'base') throw new Error(made.reason);
  const texts: string[] = [];
  const sink = await store.create({ workspacePath: workspace, attemptId: 'a-1', redactor });
  const session = await provider.open({
    base: made.base,
    toolchain: {
      path: [join(process.execPath, '..')],
      mounts: [join(process.execPath, '../..')],
      env: {},
    },
    toolbox: {},
    limits: { processes: 512, fileBytes: 1e8 },
  });
  try {
    const first = await session.run(
      { argv: ['node', '--test'] },
      { timeoutMs: 60_000, maxOutputBytes: 1e6 },
    );
    const messages = [
      { role: 'system' as const, content: 'Look around.' },
      {
        role: 'user' as const,
        content: await redactor.redact(Buffer.from(first.output.head).toString('utf8')),
      },
    ];
    const task = { ...header().task, targets: [`${workspace}/test/leak.test.js::throws`] };
    const budgets = {
      turns: 500,
      contextTokens: 1e9,
      generatedTokens: 1e9,
      replyTokens: 1e6,
      timeMs: 120_000,
    };
    await sink.append(header({ sandbox: provider.kind, budgets, task, messages }));
    const result = await runLoop({
      policy: curiousPolicy(),
      tools: [
        createBashTool(session),
        createEditorTool(session),
        createSearchTool(session),
        createSubmitTool(),
      ] as unknown as readonly Tool[],
      messages,
      budgets,
      rules: 'lenient',
      seed: 0,
      redactor,
      sink,
      signal: new AbortController().signal,
      listener: (event) => {
        // Live output goes to the user's own screen, and nowhere else.
        if (event.kind !== 'output') texts.push(JSON.stringify(event));
      },
    });
    expect(result.end).toEqual({ kind: 'submitted' });
    const diff = await session.run(
      { argv: ['git', 'diff'] },
      { timeoutMs: 10_000, maxOutputBytes: 1e6 },
    );
    const failure = `no space in ${planted.home} for ${planted.environment.DEPLOY_TOKEN}`;
    await sink.append(
      end({
        outcome: 'invalid',
        reward: null,
        reason: failure,
        end: { kind: 'infrastructure', reason: failure, remedy: `ask ${planted.userName}` },
        patch: Buffer.from(diff.output.head).toString('utf8'),
        totals: { ...result.totals, durationMs: 1 },
        localOnly: result.localOnly,
      }),
    );
  } finally {
    await session.close();
    await sink.close();
    await made.base.release();
  }

  const [attempt] = await store.list();
  if (!attempt) throw new Error('the attempt is not listed');
  const trajectory = await store.read(attempt);
  const { path: _, ...listed } = attempt;
  texts.push(JSON.stringify(listed), toJsonLines(trajectory), toMarkdown(trajectory));
  texts.push(JSON.stringify(toAtif(trajectory)));
  texts.push(JSON.stringify(await uploadable(trajectory, redactor)));
  for (const row of trainingRows(trajectory.turns).rows) {
    texts.push(Buffer.from(row.ids).toString('utf8'));
  }
  for (const file of await readdir(store.root, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) texts.push(await readFile(join(file.parentPath, file.name), 'utf8'));
    texts.push(file.name);
  }
  return texts.join('\n');
}

async function realRedactor(): Promise<Redactor> {
  const { workspace, home, userName, hostName, environment } = planted;
  // As the command line does it: with the files of the snapshot, so with those that are not ignored.
  const files = ['config/deploy.pem', 'package.json'];
  return hostRedactor({ workspacePath: workspace, files, home, userName, hostName, environment });
}

const providers: Readonly<Record<string, (stateDir: string) => SandboxProvider>> = {
  none: (stateDir) => createNoneSandbox({ stateDir }),
  local: (stateDir) => createLocalSandbox({ stateDir }),
};

// Alone an attempt takes about four seconds.
const TIMEOUT_MS = 180_000;

describe.each(Object.entries(providers))('an attempt in the sandbox `%s`', (name, create) => {
  test(
    'leaves no secret, no name and no path of the user behind',
    async () => {
      const provider = create(planted.stateDir);
      const everything = await kept(provider, await realRedactor(), name);
      const found = Object.entries(planted.secrets).filter(([, secret]) =>
        shows(everything, secret),
      );
      const where = found.map(([place, secret]) => [place, contextsOf(everything, secret)]);
      expect(where).toEqual([]);
      for (const trace of [planted.userName, planted.hostName, planted.home]) {
        expect(contextsOf(everything, trace)).toEqual([]);
      }
      // Something was read at all, and the model saw the canonical places.
      expect(everything.match(/\[redacted:/g)?.length).toBeGreaterThan(200);
      expect(everything).toContain('/workspace');
    },
    TIMEOUT_MS,
  );

  test(
    'would show them without redaction',
    async () => {
      const provider = create(planted.stateDir);
      const everything = await kept(provider, NO_REDACTION, `${name}-open`);
      const hidden = Object.entries(planted.secrets).filter(
        ([, secret]) => !shows(everything, secret),
      );
      const outside = [
        'remote URL in .git/config',
        'header in .git/config',
        '.netrc of the user',
        '.npmrc of the user',
        'environment, in a URL',
      ];
      // What the isolated sandbox does not even let the agent read.
      expect(hidden.map(([where]) => where).sort()).toEqual(name === 'local' ? outside.sort() : []);
      expect(contextsOf(everything, planted.userName)).not.toEqual([]);
    },
    TIMEOUT_MS,
  );
});

/** As written, in JSON, and in the encodings of a copy. */
function shows(text: string, secret: string): boolean {
  const bytes = Buffer.from(secret, 'utf8');
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, '').slice(0, -1),
    bytes.toString('base64url').slice(0, -1),
  ];
  return forms.some((form) => text.includes(form));
}

function contextsOf(text: string, trace: string): readonly string[] {
  const contexts: string[] = [];
  for (
    let at = text.indexOf(trace);
    at !== -1 && contexts.length < 5;
    at = text.indexOf(trace, at + 1)
  ) {
    contexts.push(text.slice(Math.max(0, at - 60), at + trace.length + 20));
  }
  return contexts;
}
