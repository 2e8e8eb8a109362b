import { describe, expect, test } from 'vitest';
import {
  type AdmitOptions,
  type AdmitOutcome,
  admitTask,
} from '../../../src/core/environments/admit.ts';
import { imageEnvironment } from '../../../src/core/environments/description.ts';
import { editPatch } from '../../../src/core/tasks/edit-patch.ts';
import type { Task } from '../../../src/core/tasks/task.ts';
import { viewOf } from '../../../src/core/tasks/views.ts';
import { TEST_IMAGE } from '../../support/docker-engine.ts';
import { tempFolder } from '../../support/temp.ts';
import { sumTask } from '../evaluation/tasks.ts';
import type { Place } from './describe-build.ts';

/** A task is admitted only when it does in its environment what it says. */
export function describeAdmission({ engine, provider, state }: Place): void {
  const { task: plain, tree } = sumTask('admission');
  const { path } = plain.bug;
  const text = (view: 'original' | 'grading'): string =>
    viewOf(plain, tree, view).get(path)?.content.toString() ?? '';
  const solvable: Task = {
    ...plain,
    patch: editPatch(path, text('grading'), text('original'), '100644'),
  };

  const admit = async (task: Task, more: Partial<AdmitOptions> = {}): Promise<AdmitOutcome> => {
    const outcome = await admitTask(task, tree, {
      ...{ engine: engine(), provider: provider(), stateDir: state(), network: 'none' },
      ...{ folder: await tempFolder(), testTimeoutMs: 60_000, image: TEST_IMAGE },
      signal: new AbortController().signal,
      ...more,
    });
    if (outcome.kind === 'admitted') await outcome.environment.release();
    return outcome;
  };

  const withSetup = (command: string): Task => ({
    ...solvable,
    environment: {
      ...solvable.environment,
      recipe: {
        ...imageEnvironment(TEST_IMAGE),
        files: 'all',
        setup: [{ tool: 'custom', folder: '', command }],
      },
    },
  });

  describe('admission of a task', () => {
    test('one that does what it says', async () => {
      expect(await admit(solvable)).toMatchObject({ kind: 'admitted', repeats: 2 });
    });

    test.each<[string, Task, RegExp]>([
      [
        'its solution solves nothing',
        plain,
        /Its own solution does not solve it: Nothing was changed/,
      ],
      [
        'a target passes',
        { ...solvable, targets: [...solvable.targets, 'test/add.test.js::adds nothing'] },
        /adds nothing did something else than before/,
      ],
      ['its set-up fails', withSetup('echo no >&2; exit 1'), /`echo no.*` ended with code 1\.$/],
      [
        'the environment holds the solution',
        withSetup('mkdir /opt/environment/lib; cp src/add.js /opt/environment/lib/'),
        /holds the solution: \/opt\/environment\/lib\/add\.js/,
      ],
    ])('not reproducible: %s', async (_, task, reason) => {
      expect(await admit(task)).toMatchObject({
        kind: 'not-reproducible',
        reason: expect.stringMatching(reason),
      });
    });

    test('an image that is not there says nothing about the task', async () => {
      expect(await admit(solvable, { image: 'prime-agent-test:none' })).toMatchObject({
        kind: 'problem',
        reason: expect.stringContaining('is not on the container engine'),
      });
    });

    test('it can be cancelled', async () => {
      const controller = new AbortController();
      controller.abort();
      expect(await admit(solvable, { signal: controller.signal })).toEqual({ kind: 'cancelled' });
    });
  });
}
