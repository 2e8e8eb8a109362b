import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type EnsureOptions,
  type EnvironmentEvent,
  type EnvironmentOutcome,
  ensureEnvironment,
  type ReadyEnvironment,
} from '../../../src/core/environments/build.ts';
import { collectEnvironments, listEnvironments } from '../../../src/core/environments/collect.ts';
import {
  type EnvironmentDescription,
  imageEnvironment,
} from '../../../src/core/environments/description.ts';
import { builderName } from '../../../src/core/environments/on-engine.ts';
import type { Engine } from '../../../src/core/sandbox/docker/engine.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { type FileTree, textTree } from '../../../src/core/tasks/tree.ts';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { tempFolder } from '../../support/temp.ts';

export interface Place {
  readonly daemon: TestEngine;
  readonly engine: () => Engine;
  readonly provider: () => SandboxProvider;
  readonly state: () => string;
}

const FILES = textTree({ 'lock.txt': 'one\n', 'src/a.txt': 'a\n' });
const EVERYTHING = { maxAgeMs: 0, maxBytes: 0 };

function steps(
  commands: readonly string[],
  more: Partial<EnvironmentDescription> = {},
): EnvironmentDescription {
  return {
    ...imageEnvironment(TEST_IMAGE),
    files: ['lock.txt'],
    setup: commands.map((command) => ({ tool: 'custom', folder: '', command })),
    ...more,
  };
}

export function ready(outcome: EnvironmentOutcome): ReadyEnvironment {
  if (outcome.kind !== 'ready') throw new Error(JSON.stringify(outcome, undefined, 2));
  return outcome;
}

/** What set-ups do and leave, with commands that need no registry. */
export function describeBuild({ daemon, engine, provider, state }: Place): void {
  const held: ReadyEnvironment[] = [];
  afterEach(async () => {
    for (const environment of held.splice(0)) await environment.release();
  });

  const ensure = async (
    description: EnvironmentDescription,
    more: Partial<EnsureOptions> = {},
  ): Promise<EnvironmentOutcome> => {
    const outcome = await ensureEnvironment({
      ...{ engine: engine(), description, files: FILES, stateDir: state(), network: 'none' },
      ...more,
    });
    if (outcome.kind === 'ready') held.push(outcome);
    return outcome;
  };
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  /** Containers, and volumes that belong to no finished environment. */
  const left = (): string[] => [
    ...lines(daemon.docker('ps', '-aq')),
    ...lines(daemon.docker('volume', 'ls', '-q', '--filter', 'label=prime-agent=sandbox')),
  ];
  const inside = async (environment: ReadyEnvironment, command: string): Promise<string> => {
    const folder = await tempFolder();
    const session = await provider().open({
      base: {
        ...{ id: 'test', tree: folder, workspacePath: folder },
        dependencies: environment.dependencies,
      },
      toolchain: { path: [], mounts: [], env: {} },
      toolbox: {},
      limits: { processes: 64, fileBytes: 1024 ** 2 },
      image: environment.image,
    });
    try {
      const limits = { timeoutMs: 20_000, maxOutputBytes: 10_000 };
      const { output } = await session.shell(command, limits);
      return Buffer.from(output.head).toString();
    } finally {
      await session.close();
    }
  };

  describe('building an environment', () => {
    test('the same one is built once, also by two at the same time and from two machines', async () => {
      const other = await mkdtemp(join(tmpdir(), 'prime-other-'));
      try {
        const description = steps(['sleep 1; echo x > /opt/environment/x']);
        const events: EnvironmentEvent[] = [];
        const onProgress = (event: EnvironmentEvent) => events.push(event);
        const outcomes = await Promise.all([
          ensure(description, { onProgress }),
          ensure(description, { onProgress }),
          ensure(description, { onProgress, stateDir: other }),
        ]);
        const all = outcomes.map(ready);
        expect(all.filter(({ built }) => built).length).toBe(1);
        expect(new Set(all.map(({ image }) => image)).size).toBe(1);
        expect(events.filter(({ kind }) => kind === 'step').length).toBe(1);
        expect(events.filter(({ kind }) => kind === 'waiting').length).toBeGreaterThanOrEqual(2);
        expect(ready(await ensure(description)).built).toBe(false);
        expect(left()).toEqual([]);
      } finally {
        await rm(other, { recursive: true, force: true });
      }
    });

    test('a set-up sees the named files, and sessions what it installed, read-only', async () => {
      const environment = ready(
        await ensure(
          steps(
            [
              'ls -R > /opt/environment/seen; mkdir -p node_modules/dep sub/node_modules/.bin .venv',
              'echo dep > node_modules/dep/a.js; ln -s ../dep/a.js "sub/node_modules/.bin/it is"; umask 077; echo secret > .venv/private',
            ],
            { variables: { PLACE: 'here' }, path: ['/opt/environment/bin'] },
          ),
        ),
      );
      expect(environment.dependencies.map(({ path }) => path)).toEqual([
        '.venv',
        'node_modules',
        'sub/node_modules',
      ]);
      const said = await inside(
        environment,
        'cat /opt/environment/seen; echo "$PLACE"; echo "$PATH" | cut -d: -f1; cat node_modules/dep/a.js .venv/private; readlink sub/node_modules/.bin/*; touch node_modules/x; touch /opt/environment/x; rm -rf node_modules; echo own > own; cat own',
      );
      expect(said).toContain('lock.txt');
      expect(said).not.toContain('a.txt');
      expect(said).toContain('here\n/opt/environment/bin\n');
      expect(said).toContain('dep\nsecret\n../dep/a.js\n');
      expect(said.match(/Read-only file system/g)?.length).toBeGreaterThanOrEqual(3);
      expect(said).toMatch(/own\n$/);
    });

    test('settings of the host are there in the set-up and nowhere afterwards', async () => {
      const environment = ready(
        await ensure(
          steps([
            'test "$PIP_INDEX_URL" = https://me:hunter2@pip.example/ && cat "$PIP_CERT" | wc -c > /opt/environment/size',
          ]),
          {
            registries: {
              variables: {
                PIP_INDEX_URL: 'https://me:hunter2@pip.example/',
                PIP_CERT: '/setup/certificates.pem',
              },
              files: { '/setup/certificates.pem': 'hunter2' },
            },
          },
        ),
      );
      expect(await inside(environment, 'cat /opt/environment/size; ls -A /setup; env')).toMatch(
        /^7\n(?![\s\S]*hunter2)/,
      );
      const { image } = environment;
      expect(daemon.docker('inspect', image)).not.toContain('hunter2');
      expect(daemon.docker('history', '--no-trunc', image)).not.toContain('hunter2');
    });

    test('other bytes of a lock file, another command or variable are another environment', async () => {
      const base = ready(await ensure(steps(['true'])));
      const others = await Promise.all([
        ensure(steps(['true']), { files: textTree({ 'lock.txt': 'two\n' }) }),
        ensure(steps(['true; true'])),
        ensure(steps(['true'], { variables: { A: '1' } })),
      ]);
      expect(new Set([base, ...others.map(ready)].map(({ hash }) => hash)).size).toBe(4);
      const source = textTree({ 'lock.txt': 'one\n', 'src/a.txt': 'changed\n' });
      expect(ready(await ensure(steps(['true']), { files: source }))).toMatchObject({
        hash: base.hash,
        built: false,
      });
    });

    test('an image alone is used as it is', async () => {
      const environment = ready(await ensure(imageEnvironment(TEST_IMAGE)));
      expect(environment).toMatchObject({ built: false, dependencies: [] });
      expect(environment.image).toBe(daemon.docker('inspect', '-f', '{{.Id}}', TEST_IMAGE).trim());
    });

    test('a Dockerfile is built, and its set-up runs on that', async () => {
      const files: FileTree = textTree({
        'lock.txt': 'one\n',
        'env/Dockerfile': `FROM ${TEST_IMAGE} AS first\nARG WORD\nCOPY lock.txt /copied\nRUN echo "$WORD" > /word\n`,
      });
      const base = {
        kind: 'dockerfile',
        ...{ dockerfile: 'env/Dockerfile', context: '', args: { WORD: 'spoken' } },
      } as const;
      const description = steps(['cat /word /copied > /opt/environment/both'], { base });
      const environment = ready(await ensure(description, { files }));
      expect(await inside(environment, 'cat /opt/environment/both')).toBe('spoken\none\n');
      const again = ready(await ensure(description, { files }));
      expect(again).toMatchObject({ hash: environment.hash, built: false });
    });

    test('a dead builder is no obstacle, and what was pruned is built again', async () => {
      const description = steps(['mkdir node_modules; echo a > node_modules/a']);
      const first = ready(await ensure(description));
      await first.release();
      await collectEnvironments(engine(), state(), EVERYTHING);
      const label = ['--label', 'prime-agent=sandbox', '--label', 'prime-agent.owner=4194303-1'];
      daemon.docker(
        'create',
        '--name',
        builderName(first.hash),
        ...label,
        '--network',
        'none',
        TEST_IMAGE,
        'true',
      );
      const second = ready(await ensure(description));
      expect(second).toMatchObject({ built: true, hash: first.hash });
      daemon.docker('volume', 'rm', second.dependencies[0]?.volume ?? '');
      expect(ready(await ensure(description))).toMatchObject({ built: true });
      expect(left()).toEqual([]);
    });
  });

  describe('what goes wrong in a set-up is said, and nothing is left', () => {
    test.each<[string, EnvironmentDescription, Partial<EnsureOptions>, object]>([
      [
        'a command that fails',
        steps(['echo fine', 'echo the last words; echo https://a:b@c.example >&2; exit 3']),
        {},
        {
          cause: 'setup-failed',
          reason: expect.stringMatching(/^`echo the last words.*` ended with code 3$/),
          log: expect.stringMatching(/(?=[\s\S]*the last words)(?=[\s\S]*:\/\/…@c\.example)/),
        },
      ],
      [
        'a program that is missing',
        steps(['frobnicate --all']),
        {},
        {
          cause: 'setup-failed',
          reason: 'The image has no frobnicate, which `frobnicate --all` needs',
          remedy: expect.stringContaining('--image'),
        },
      ],
      [
        'a registry that is not reached',
        steps(['npm ci'], { files: 'all' }),
        {
          files: textTree({
            'package.json': '{"dependencies":{"ms":"2.1.3"}}',
            'package-lock.json':
              '{"lockfileVersion":3,"packages":{"":{"dependencies":{"ms":"2.1.3"}},"node_modules/ms":{"version":"2.1.3"}}}',
          }),
          registries: { variables: { npm_config_fetch_retries: '0' }, files: {} },
        },
        { cause: 'unreachable', remedy: expect.stringContaining('--setup-network host') },
      ],
      ['a full disk', steps(['echo x > /dev/full']), {}, { cause: 'disk-full' }],
      [
        'a command that does not end',
        steps(['echo begun; sleep 300']),
        { stepTimeoutMs: 2_000 },
        {
          cause: 'timeout',
          reason: '`echo begun; sleep 300` did not end within 2 s',
          log: 'begun',
        },
      ],
      [
        'an image that is not there',
        imageEnvironment('prime-agent-test:none'),
        {},
        { cause: 'no-image', remedy: expect.stringContaining('docker pull prime-agent-test:none') },
      ],
      [
        'a network that is not there',
        steps(['true']),
        { network: 'nowhere' },
        { cause: 'engine', reason: expect.stringContaining('nowhere') },
      ],
      [
        'a Dockerfile that fails',
        steps([], { base: { kind: 'dockerfile', dockerfile: 'D', context: '', args: {} } }),
        { files: textTree({ D: `FROM ${TEST_IMAGE}\nRUN echo before; exit 9\n` }) },
        { cause: 'build-failed', log: expect.stringMatching(/before[\s\S]*code: 9/) },
      ],
    ])('%s', async (_, description, more, expected) => {
      expect(await ensure(description, more)).toMatchObject({ kind: 'problem', ...expected });
      expect(left()).toEqual([]);
    });

    test('cancelling ends the command', async () => {
      const controller = new AbortController();
      const outcome = await ensure(steps(['echo begun; sleep 300']), {
        signal: controller.signal,
        onProgress: (event) => {
          if (event.kind === 'output') controller.abort();
        },
      });
      expect(outcome).toEqual({ kind: 'cancelled' });
      expect(left()).toEqual([]);
    });
  });

  describe('old environments', () => {
    test('go by age and size, those used longest ago first, and never one in use', async () => {
      await collectEnvironments(engine(), state(), EVERYTHING);
      const made: ReadyEnvironment[] = [];
      for (const name of ['first', 'second', 'third']) {
        const size = name === 'third' ? 100_000 : 5_000_000;
        const command = `mkdir node_modules; head -c ${size} /dev/zero > node_modules/${name}`;
        made.push(ready(await ensure(steps([command]))));
      }
      const [first, second, third] = made;
      const listed = await listEnvironments(engine(), state());
      expect(listed.map(({ hash, inUse }) => [hash, inUse])).toEqual(
        [third, second, first].map((environment) => [environment?.hash, true]),
      );
      expect(listed[1]?.bytes).toBeGreaterThan(5_000_000);
      expect(listed[1]?.bytes).toBeLessThan(9_000_000);

      const all = await collectEnvironments(engine(), state(), EVERYTHING);
      expect(all.removed).toEqual([]);
      expect(all.keptInUse.length).toBe(3);

      await first?.release();
      await second?.release();
      const bySize = await collectEnvironments(engine(), state(), {
        maxAgeMs: 1e12,
        maxBytes: 9e6,
      });
      expect(bySize.removed.map(({ hash }) => hash)).toEqual([first?.hash]);
      const byAge = await collectEnvironments(
        engine(),
        state(),
        { maxAgeMs: 1_000, maxBytes: 1e12 },
        Date.now() + 60_000,
      );
      expect(byAge.removed.map(({ hash }) => hash)).toEqual([second?.hash]);
      expect(byAge.keptInUse.map(({ hash }) => hash)).toEqual([third?.hash]);
      await third?.release();
      await collectEnvironments(engine(), state(), EVERYTHING);
      expect(lines(daemon.docker('volume', 'ls', '-q'))).toEqual([]);
    });
  });
}
