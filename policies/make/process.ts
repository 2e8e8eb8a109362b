import { findNode } from '../../src/core/frameworks/node-test/toolchain.ts';
import { openWorkspaceFiles } from '../../src/core/frameworks/workspace-files.ts';
import { chooseSandbox } from '../../src/core/sandbox/providers.ts';
import {
  createRehearsalRuns,
  type RehearsalRuns,
} from '../../src/core/tasks/rehearsal/test-runs.ts';

/** What the programs of this folder share: their surroundings. */

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A variable that scripts/policy-nano.mjs sets. */
export function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start this with npm run policy:nano`);
  return value;
}

export async function openRuns(): Promise<RehearsalRuns> {
  const sandbox = await chooseSandbox('auto');
  if (sandbox.kind === 'unavailable') throw new Error(`${sandbox.reason} ${sandbox.remedy}`);
  const node = await findNode(openWorkspaceFiles(process.cwd()));
  if (node.kind === 'missing') throw new Error(`${node.reason} ${node.remedy}`);
  return createRehearsalRuns({ provider: sandbox.provider, toolchain: node.toolchain });
}
