import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { COMMANDS } from '../../../src/editor/contract/commands.ts';
import { CONTEXT_KEYS } from '../../../src/editor/contract/context-keys.ts';
import { VIEWS } from '../../../src/editor/contract/views.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const json = (path: string): Record<string, string> => JSON.parse(read(path));

const { contributes, capabilities } = manifest;
const declared = contributes.commands.map(({ command }) => command);

describe('the manifest', () => {
  it('declares exactly the commands that the code has', () => {
    expect(declared.toSorted()).toEqual([...COMMANDS].toSorted());
  });

  it('names only declared commands in its menus', () => {
    const used = Object.values(contributes.menus)
      .flat()
      .flatMap((item) => ('command' in item ? [item.command] : []));
    expect(used.filter((command) => !declared.includes(command))).toEqual([]);
  });

  it('uses only context keys that the code sets', () => {
    const own = JSON.stringify(manifest).match(/(?<![\w#.`])primeAgent\.\w+(?=[\s)"])/g) ?? [];
    const known: readonly string[] = [
      ...COMMANDS,
      ...Object.values(CONTEXT_KEYS),
      ...Object.values(VIEWS),
      ...Object.keys(contributes.configuration.properties),
    ];
    expect(own.filter((key) => !known.includes(key))).toEqual([]);
  });

  it('never lets a workspace choose what runs, where it runs, or who is asked', () => {
    const scopes = Object.entries(contributes.configuration.properties);
    const machine = scopes.filter(([, { scope }]) => scope === 'machine').map(([id]) => id);
    expect(machine).toEqual([
      'primeAgent.policy',
      'primeAgent.endpoint.baseUrl',
      'primeAgent.endpoint.model',
      'primeAgent.sandbox',
      'primeAgent.dockerImage',
      'primeAgent.server.url',
      'primeAgent.server.fingerprint',
    ]);
    const overridable = scopes
      .filter(([, { scope }]) => scope !== 'machine' && scope !== 'window')
      .map(([id]) => id);
    expect(capabilities.untrustedWorkspaces.restrictedConfigurations.toSorted()).toEqual(
      overridable.toSorted(),
    );
  });

  it('offers the sandboxes that the command line has, each described', () => {
    const { enum: kinds, enumDescriptions } =
      contributes.configuration.properties['primeAgent.sandbox'];
    expect(kinds).toEqual(['auto', 'local', 'docker', 'none']);
    expect(enumDescriptions).toEqual(kinds.map((kind) => `%setting.sandbox.${kind}%`));
  });

  it('has its texts in both languages, each used', () => {
    const used = new Set(JSON.stringify(manifest).match(/(?<="%)[\w.-]+(?=%")/g) ?? []);
    for (const file of ['package.nls.json', 'package.nls.de.json']) {
      expect(Object.keys(json(file)).toSorted(), file).toEqual([...used].toSorted());
    }
  });
});

describe('texts in the code', () => {
  const sources = readdirSync(join(ROOT, 'src/editor'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, text: read(join('src/editor', name)) }));
  const literal = /l10n\s*\.t\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g;
  const used = new Set(
    sources.flatMap(({ text }) =>
      [...text.matchAll(literal)].map((match) =>
        (match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1'),
      ),
    ),
  );

  it('are found by this test', () => {
    const calls = sources.flatMap(({ name, text }) =>
      [...text.matchAll(/l10n\s*\.t\(/g)].map(() => name),
    );
    const found = sources.flatMap(({ name, text }) => [...text.matchAll(literal)].map(() => name));
    expect(calls).toEqual(found);
    expect(used.size).toBeGreaterThan(50);
  });

  it('are translated, each with the same places to fill in', () => {
    const german = json('l10n/bundle.l10n.de.json');
    expect(Object.keys(german).toSorted()).toEqual([...used].toSorted());
    const places = (text: string): string[] => (text.match(/\{\d\}/g) ?? []).toSorted();
    for (const [english, translation] of Object.entries(german)) {
      expect(places(translation), english).toEqual(places(english));
    }
  });
});
