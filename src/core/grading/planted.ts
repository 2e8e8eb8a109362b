import { randomBytes } from 'node:crypto';
import type { PlantCanaries, TestResult } from '../frameworks/framework.ts';
import { type SandboxSession, WORKSPACE } from '../sandbox/sandbox.ts';

/** Test files larger than this are left as they are. */
const MAX_BYTES = 2 * 2 ** 20;

export interface Planted {
  readonly files: readonly string[];
  readonly mustPass: readonly string[];
  readonly mustFail: readonly string[];
}

/** Letters first: the nonce becomes part of names in code. New for every run, so that nobody can know it. */
export function newNonce(): string {
  return `x${randomBytes(8).toString('hex')}`;
}

/** Adds planted tests to the files, in the session's layer only. */
export async function plantInto(
  session: SandboxSession,
  plant: PlantCanaries,
  files: readonly string[],
): Promise<Planted> {
  const nonce = newNonce();
  const planted: string[] = [];
  const mustPass: string[] = [];
  const mustFail: string[] = [];
  for (const file of files) {
    const path = `${WORKSPACE}/${file}`;
    const source = await readSource(session, path);
    const canaries = source === undefined ? undefined : plant(file, source, nonce);
    if (!canaries) continue;
    await session.files.write(path, Buffer.from(canaries.source));
    planted.push(file);
    mustPass.push(...canaries.mustPass);
    mustFail.push(...canaries.mustFail);
  }
  return { files: planted, mustPass, mustFail };
}

async function readSource(session: SandboxSession, path: string): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(
      await session.files.read(path, MAX_BYTES),
    );
  } catch {
    return undefined;
  }
}

/** Planted tests that did not do what they must, in words. Empty: all is well. */
export function misbehaving(planted: Planted, results: readonly TestResult[]): readonly string[] {
  const status = statusById(results);
  const problems: string[] = [];
  const nameless = (id: string): string => `${id.split('::', 1)[0]}`;
  for (const id of planted.mustPass) {
    if (status.get(id) !== 'passed')
      problems.push(
        `${nameless(id)}: the check of assertions ended as ${status.get(id) ?? 'missing'}`,
      );
  }
  for (const id of planted.mustFail) {
    const found = status.get(id);
    if (found !== 'failed' && found !== 'error')
      problems.push(`${nameless(id)}: a test that must fail ended as ${found ?? 'missing'}`);
  }
  return problems;
}

/** By id; of several results with one id the worst counts, so that a forged pass hides nothing. */
export function statusById(
  results: readonly TestResult[],
): ReadonlyMap<string, TestResult['status']> {
  const byId = new Map<string, TestResult['status']>();
  for (const { id, status } of results) {
    const earlier = byId.get(id);
    if (earlier === undefined || earlier === 'passed') byId.set(id, status);
  }
  return byId;
}
