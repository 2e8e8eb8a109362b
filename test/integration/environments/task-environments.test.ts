import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdmitOutcome, admitTask } from '../../../src/core/environments/admit.ts';
import {
  type EnsureOptions,
  type EnvironmentOutcome,
  ensureEnvironment,
  type ReadyEnvironment,
} from '../../../src/core/environments/build.ts';
import { collectEnvironments, listEnvironments } from '../../../src/core/environments/collect.ts';
import type { EnvironmentDescription } from '../../../src/core/environments/description.ts';
import { detectEnvironment } from '../../../src/core/environments/detect/detect.ts';
import {
  hostRegistrySettings,
  type RegistrySettings,
} from '../../../src/core/environments/registry-settings.ts';
import { prepareWorkspace } from '../../../src/core/fix/prepare.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import type { Engine } from '../../../src/core/sandbox/docker/engine.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { tasksFromRepository } from '../../../src/core/tasks/from-repository.ts';
import { openTask } from '../../../src/core/tasks/open-task.ts';
import type { Task } from '../../../src/core/tasks/task.ts';
import { readTaskSet, writeTaskSet } from '../../../src/core/tasks/task-set.ts';
import { type FileTree, textTree } from '../../../src/core/tasks/tree.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { describeAdmission } from './describe-admission.ts';
import { ready } from './describe-build.ts';
import { openPlace } from './place.ts';
import { PYTEST_PROJECT, VITEST_PROJECT } from './projects.ts';

const started = await startTestEngine({ image: 'installers' });
const { signal } = new AbortController();

if (started.kind === 'none') {
  test('tasks get environments on a real engine', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine: daemon } = started;
  afterAll(() => daemon.remove());
  const place = openPlace(daemon);
  const { state } = place;
  let engine: Engine;
  let provider: SandboxProvider;
  let registries: RegistrySettings;
  beforeAll(async () => {
    engine = place.engine();
    provider = place.provider();
    registries = await hostRegistrySettings(process.env);
  });

  // The daemon of the tests has no bridge.
  const common = () => ({ engine, stateDir: state(), network: 'host', registries });

  function described(files: FileTree): EnvironmentDescription {
    const found = detectEnvironment(files, { image: TEST_IMAGE });
    if (found.kind !== 'described') throw new Error(found.reason);
    return found.description;
  }

  const ensure = (
    files: FileTree,
    more: Partial<EnsureOptions> = {},
  ): Promise<EnvironmentOutcome> =>
    ensureEnvironment({ ...common(), description: described(files), files, signal, ...more });

  function admitted(outcome: AdmitOutcome): ReadyEnvironment {
    if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome, undefined, 2));
    return outcome.environment;
  }

  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

  describeAdmission(place);

  describe.each([
    { name: 'vitest', files: VITEST_PROJECT, missing: /no node with vitest/ },
    { name: 'pytest', files: PYTEST_PROJECT, missing: /no python3 with pytest/ },
  ])('a $name project with packages', ({ name, files, missing }) => {
    test('is packed as tasks, built again from them, and graded solved', async () => {
      const tree = textTree(files);
      const folder = await tempFolder();
      await writeFiles(folder, files);
      const prepare = (environment?: ReadyEnvironment) =>
        prepareWorkspace({
          path: folder,
          provider,
          stateDir: state(),
          include: [],
          testTimeoutMs: 120_000,
          environment,
          signal,
        });

      const without = await prepare();
      expect(without).toMatchObject({ kind: 'problem', reason: expect.stringMatching(missing) });

      const environment = ready(await ensure(tree));
      expect(environment.built).toBe(true);
      const prepared = await prepare(environment);
      if (prepared.kind === 'problem') throw new Error(`${prepared.reason} ${prepared.remedy}`);
      const [project] = prepared.projects;
      if (project === undefined) throw new Error('no project');
      expect(project.setup.framework.id).toBe(name);
      const built = await tasksFromRepository({
        project,
        seed: 1,
        limit: 1,
        maxMs: 120_000,
        signal,
      });
      if (built.kind !== 'built') throw new Error(JSON.stringify(built));
      const file = join(await tempFolder(), 'tasks.jsonl.gz');
      await writeTaskSet(file, {
        entries: built.tasks.map((task) => ({ task })),
        trees: built.trees,
      });
      await environment.release();

      // As on another machine: nothing of it is left.
      const collected = await collectEnvironments(engine, state(), { maxAgeMs: 0, maxBytes: 0 });
      expect(collected.removed.map(({ hash }) => hash)).toContain(environment.hash);
      expect(
        daemon.docker(
          ...['images', '-q', '--filter', `label=prime-agent.environment=${environment.hash}`],
        ),
      ).toBe('');
      expect(daemon.docker('volume', 'ls', '-q')).toBe('');

      const set = await readTaskSet(file);
      const task = set.entries[0]?.task as Task;
      const packed = set.trees.get(task.tree) as FileTree;
      const again = admitted(
        await admitTask(task, packed, {
          ...common(),
          ...{ provider, folder: await tempFolder(), testTimeoutMs: 120_000, signal },
          image: TEST_IMAGE,
        }),
      );
      expect(again).toMatchObject({ built: true, hash: environment.hash });

      const opened = await openTask(task, packed, 'grading', {
        ...{ provider, stateDir: state(), folder: await tempFolder(), signal },
        testTimeoutMs: 120_000,
        environment: again,
      });
      if (opened.kind === 'problem') throw new Error(opened.reason);
      const { setup, baseline } = opened;
      const graded = await gradePatch({
        setup,
        baseline,
        targets: task.targets,
        patch: task.patch,
      });
      expect(graded).toMatchObject({ kind: 'graded', report: { verdict: 'passed' } });

      // Sessions see the packages and cannot write to them.
      const session = await provider.open(setup.spec);
      try {
        const run = async (command: string) => {
          const limits = { timeoutMs: 20_000, maxOutputBytes: 10_000 };
          const { end, output } = await session.shell(command, limits);
          return { end, text: Buffer.from(output.head).toString() };
        };
        const installed = name === 'vitest' ? 'node_modules' : '/opt/environment/venv';
        expect((await run(`ls ${installed} && touch ${installed}/new`)).text).toMatch(
          /Read-only file system/,
        );
        expect((await run('env')).text).not.toMatch(/_proxy|registry|INDEX_URL|CA_CERTS|\/setup/i);
        expect((await run('ls /setup /setup/*')).text).not.toMatch(/pem|home|tools/);
        expect((await run('getent hosts registry.example || echo none')).text).toBe('none\n');
      } finally {
        await session.close();
      }
      expect(
        (await listEnvironments(engine, state())).find(({ hash }) => hash === again.hash),
      ).toMatchObject({
        inUse: true,
        source: name === 'vitest' ? 'npm' : 'pip',
      });
      await again.release();
      expect(lines(daemon.docker('ps', '-aq'))).toEqual([]);
    }, 600_000);
  });
}
