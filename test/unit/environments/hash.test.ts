import { describe, expect, test } from 'vitest';
import {
  type EnvironmentDescription,
  imageEnvironment,
} from '../../../src/core/environments/description.ts';
import {
  contextFiles,
  dockerfileHash,
  dockerfileName,
  environmentHash,
  imagesOf,
} from '../../../src/core/environments/hash.ts';
import { textTree } from '../../../src/core/tasks/tree.ts';

const FILES = textTree({ 'lock.txt': 'one', 'src/a.txt': 'a' });
const BASE: EnvironmentDescription = {
  ...imageEnvironment('node:22'),
  files: ['lock.txt'],
  setup: [{ tool: 'npm', folder: '', command: 'npm ci' }],
  variables: { A: '1', B: '2' },
};
const hash = (description: EnvironmentDescription = BASE, files = FILES, id = 'sha256:1') =>
  environmentHash(description, files, id);

describe('the hash of an environment', () => {
  test('is the same for the same content', () => {
    expect(hash()).toMatch(/^[0-9a-f]{64}$/);
    expect(hash({ ...BASE, variables: { B: '2', A: '1' } })).toBe(hash());
    // A tag is a name; the id is the content.
    expect(hash({ ...BASE, base: { kind: 'image', image: 'mine' }, notes: ['x'] })).toBe(hash());
    expect(hash(BASE, textTree({ 'lock.txt': 'one', 'src/a.txt': 'b' }))).toBe(hash());
  });

  test.each<[string, () => string]>([
    ['the base', () => hash(BASE, FILES, 'sha256:2')],
    ['bytes of a lock file', () => hash(BASE, textTree({ 'lock.txt': 'two' }))],
    ['which files', () => hash({ ...BASE, files: [] })],
    ['a command', () => hash({ ...BASE, setup: [{ tool: 'npm', folder: '', command: 'npm i' }] })],
    [
      'its folder',
      () => hash({ ...BASE, setup: [{ tool: 'npm', folder: 'a', command: 'npm ci' }] }),
    ],
    ['PATH', () => hash({ ...BASE, path: ['/x'] })],
    ['a variable', () => hash({ ...BASE, variables: { A: '1', B: '3' } })],
  ])('differs with %s', (_, other) => {
    expect(other()).not.toBe(hash());
  });

  test('with all files it differs with every one', () => {
    const all: EnvironmentDescription = { ...BASE, files: 'all' };
    const changed = textTree({ 'lock.txt': 'one', 'src/a.txt': 'b' });
    expect(hash(all, changed)).not.toBe(hash(all));
  });
});

describe('a Dockerfile', () => {
  const base = {
    kind: 'dockerfile',
    dockerfile: 'env/Dockerfile',
    context: 'env',
    args: {},
  } as const;
  const tree = (text: string, more: Record<string, string> = {}) =>
    textTree({ 'env/Dockerfile': text, 'env/a': '', b: '', ...more });

  test('sees its context only where it copies from it', () => {
    expect([...contextFiles(base, tree('FROM x\nRUN true\n')).keys()]).toEqual(['Dockerfile']);
    expect([...contextFiles(base, tree('FROM x\n  copy a /\n')).keys()].sort()).toEqual([
      'Dockerfile',
      'a',
    ]);
    const outer = { ...base, dockerfile: 'b' };
    expect(dockerfileName(outer)).toBe('.prime-agent.Dockerfile');
    expect([...contextFiles(outer, tree('FROM x\n')).keys()]).toEqual(['.prime-agent.Dockerfile']);
  });

  test('names images, not its own stages', () => {
    const text = `ARG V=1
FROM --platform=linux/amd64 node:22 AS build
from debian
FROM Build as last
FROM scratch
COPY --from=build /a /a
`;
    expect(imagesOf(text)).toEqual(['node:22', 'debian']);
  });

  test('differs with arguments, target and what its images are', () => {
    const files = tree('FROM x\n');
    const one = dockerfileHash(base, files, { x: 'sha256:1' });
    expect(dockerfileHash(base, files, { x: 'sha256:2' })).not.toBe(one);
    expect(dockerfileHash({ ...base, args: { A: '1' } }, files, { x: 'sha256:1' })).not.toBe(one);
    expect(dockerfileHash({ ...base, target: 't' }, files, { x: 'sha256:1' })).not.toBe(one);
  });
});
