import { afterAll, test } from 'vitest';
import { startTestEngine } from '../../support/docker-engine.ts';
import { describeBuild } from './describe-build.ts';
import { describeCommand } from './describe-command.ts';
import { openPlace } from './place.ts';

/** Set-ups, what goes wrong in them, and what is kept; `task-environments.test.ts` has tasks in them. */
const started = await startTestEngine({ image: 'installers' });

if (started.kind === 'none') {
  test('environments are built on a real engine', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  const place = openPlace(engine);
  describeBuild(place);
  describeCommand(place);
}
