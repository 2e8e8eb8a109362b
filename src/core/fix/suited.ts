import { findTestCode } from '../agent/test-code.ts';
import { openTreeReader } from '../frameworks/inside-tree.ts';
import { findLocalServers } from '../policies/discovery.ts';
import type { Policy } from '../policies/policy.ts';
import { openingMessages } from './opening.ts';
import type { TargetSetup } from './rounds.ts';

/** Why the policy is no use for this target; undefined: it is, or says nothing about that. */
export async function whyNotSuited(
  policy: Policy,
  setup: TargetSetup,
): Promise<string | undefined> {
  if (!policy.whyNotSuited) return undefined;
  const wanted = new Set(setup.targets);
  const failing = setup.baseline.failing.filter((test) => wanted.has(test.id));
  const [first] = failing;
  if (first === undefined) return undefined;
  const tree = openTreeReader(setup.grade.spec.base.tree);
  const code = await findTestCode(tree, first);
  const sources: { path: string; text: string }[] = [];
  for (const path of code?.imports ?? []) {
    const text = await tree.readText(path);
    if (text !== undefined) sources.push({ path, text });
  }
  const messages = await openingMessages({ ...setup, tree, failing });
  const opening = messages.map(({ content }) => content).join('\n');
  return policy.whyNotSuited({ testFile: first.file, opening, sources });
}

/** What else can be used here, in words. */
export async function otherPolicies(signal: AbortSignal): Promise<string> {
  const servers = await findLocalServers({ signal });
  const found = servers.flatMap(({ name, baseUrl, models: [model] }) =>
    model === undefined ? [] : [`${name} with --policy ${baseUrl} --model ${model}`],
  );
  const models =
    found.length > 0
      ? `Running on this machine: ${found.join('; ')}.`
      : 'No model server runs on this machine (Ollama, llama.cpp, LM Studio and vLLM are looked for).';
  return `${models} Or search without a model: --policy edit-search.`;
}
