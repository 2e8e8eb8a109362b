import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { runLoop } from '../../src/core/agent/loop.ts';
import { createScriptedPolicy, type ScriptedReply } from '../../src/core/policies/scripted.ts';
import { hostRedactor } from '../../src/core/redaction/host.ts';
import { createLocalSandbox } from '../../src/core/sandbox/local/local.ts';
import { makeBase } from '../../src/core/snapshot/base.ts';
import { createBashTool } from '../../src/core/tools/bash/bash.ts';
import { createSubmitTool } from '../../src/core/tools/submit.ts';
import type { Tool } from '../../src/core/tools/tool.ts';
import { createTrajectoryStore } from '../../src/core/trajectories/store.ts';
import { row } from './table.ts';

/**
 * What the agent costs per turn, with a policy that answers at once: loop, redaction, sandbox call
 * and record on disk. The peer is mini-swe-agent with its own bubblewrap environment, in turn.
 */
export async function turnOverhead(peerPython: string | undefined): Promise<string> {
  const rounds = 5;
  const turns = 200;
  const lines: string[] = [];
  for (const command of ['true', 'seq 2000', 'cat a.txt | wc -l']) {
    const ours: number[] = [];
    const peers: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(await ourTurns(turns, command));
      if (peerPython) peers.push(peerTurns(peerPython, turns, command));
    }
    lines.push(row(command, ours, peers));
  }
  return lines.join('\n');
}

async function ourTurns(turns: number, command: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'prime-agent-bench-'));
  try {
    const root = join(folder, 'work');
    await mkdir(root);
    await writeFile(join(root, 'a.txt'), 'one\ntwo\n');
    const made = await makeBase(root, { stateDir: join(folder, 'state') });
    if (made.kind !== 'base') throw new Error(made.reason);
    const session = await createLocalSandbox({ stateDir: join(folder, 'state') }).open({
      base: made.base,
      toolchain: { path: [], mounts: [], env: {} },
      toolbox: {},
      limits: { processes: 512, fileBytes: 2 ** 30 },
    });
    const redactor = await hostRedactor({
      workspacePath: root,
      files: ['a.txt'],
      environment: process.env,
    });
    const store = createTrajectoryStore(join(folder, 'trajectories'));
    const sink = await store.create({ workspacePath: root, attemptId: 'bench', redactor });
    // Given, so that the script does not count the words of the whole conversation in every turn.
    const usage = { promptTokens: 1, completionTokens: 1 };
    const call: ScriptedReply = { usage, calls: [{ name: 'bash', arguments: { command } }] };
    const submit: ScriptedReply = { usage, calls: [{ name: 'submit', arguments: {} }] };
    const began = performance.now();
    const result = await runLoop({
      policy: createScriptedPolicy(({ index }) => (index < turns ? call : submit)),
      tools: [createBashTool(session), createSubmitTool()] as readonly Tool[],
      messages: [{ role: 'user', content: 'go' }],
      budgets: {
        turns: turns + 1,
        contextTokens: 1e9,
        generatedTokens: 1e9,
        replyTokens: 1e6,
        timeMs: 600_000,
      },
      rules: 'strict',
      seed: 0,
      redactor,
      sink,
      signal: new AbortController().signal,
    });
    const perTurn = (performance.now() - began) / (turns + 1);
    if (result.end.kind !== 'submitted') throw new Error(`ended as ${JSON.stringify(result.end)}`);
    await sink.close();
    await session.close();
    return perTurn;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function peerTurns(python: string, turns: number, command: string): number {
  // Relative to the checkout: this file runs from a bundle somewhere else.
  const script = 'test/bench/mini_swe_agent.py';
  return Number(
    execFileSync(python, [script, String(turns), command], { encoding: 'utf8' }).trim(),
  );
}
