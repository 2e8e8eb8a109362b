import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  type AttemptsModel,
  createAttemptsModel,
} from '../../../src/editor/attempts-view/attempts-model.ts';
import { createRecords } from '../../../src/editor/attempts-view/records.ts';
import { createFakeVs, type FakeVs } from '../../support/fake-vs.ts';
import { tempFolder } from '../../support/temp.ts';

/** Longer than changes are waited for. */
const SETTLED_MS = 700;
const settled = () => new Promise((resolve) => setTimeout(resolve, SETTLED_MS));

async function open(): Promise<{
  readonly fake: FakeVs;
  readonly model: AttemptsModel;
  readonly place: string;
  readonly lists: () => number;
  readonly started: (attemptId: string) => void;
}> {
  const base = await tempFolder();
  const fake = createFakeVs({ folders: [join(base, 'project')] });
  const [folder] = fake.vs.workspace.workspaceFolders ?? [];
  if (!folder) throw new Error('no folder');
  const records = createRecords({ PRIME_AGENT_HOME: join(base, 'state') });
  let lists = 0;
  const log = fake.vs.window.createOutputChannel('x', { log: true });
  const model = createAttemptsModel(fake.vs, log, async () => ({
    places: records.places,
    list(folders) {
      lists += 1;
      return records.list(folders);
    },
  }));
  onTestFinished(() => model.dispose());
  const [place = ''] = await records.places(folder);
  return {
    fake,
    model,
    place,
    lists: () => lists,
    started: (attemptId) =>
      model.started({
        attemptId,
        folder,
        number: 1,
        policy: 'edit-search',
        startedAt: new Date(),
        targets: ['test/a.test.js::adds'],
        trajectoryPath: join(place, `${attemptId}.jsonl`),
      }),
  };
}

it('reads nothing before it is asked', async () => {
  const { model, lists, started } = await open();
  started('a-1');
  model.ended({ attemptId: 'a-1', outcome: 'solved', reason: '', turns: 1, durationMs: 1 });
  await model.refresh();
  expect(lists()).toBe(0);
  expect(model.running()).toEqual([]);
  expect(await model.recorded()).toEqual([]);
  expect(lists()).toBe(1);
});

it('a burst of changes costs one listing', async () => {
  const { fake, model, lists, place } = await open();
  await model.recorded();
  for (let at = 0; at < 500; at++) fake.changedOnDisk(join(place, `b-${at}.jsonl`));
  await settled();
  expect(lists()).toBe(2);
  await Promise.all(Array.from({ length: 50 }, () => model.refresh()));
  expect(lists()).toBe(3);
});

it('an attempt of this window says what it does without a listing, some times a second', async () => {
  const { fake, model, lists, place, started } = await open();
  await model.recorded();
  started('a-1');
  const changes: (string | undefined)[] = [];
  model.onDidChange((id) => changes.push(id));
  const call = { id: 'c', name: 'bash', arguments: {} };
  for (let index = 0; index < 200; index++) {
    model.turn('a-1', { kind: 'turn', index });
    model.turn('a-1', { kind: 'call', index, call });
    model.turn('a-1', { kind: 'output', index, text: 'x' });
    fake.changedOnDisk(join(place, 'a-1.jsonl'));
  }
  await settled();
  expect(model.running()).toMatchObject([{ outcome: 'running', turns: 200, reason: 'bash' }]);
  expect(changes).toEqual(['a-1']);
  expect(lists()).toBe(1);
  model.grading('a-1');
  expect(model.running()).toMatchObject([{ outcome: 'grading' }]);
});
