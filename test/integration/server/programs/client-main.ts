// A client for tests that kill it: OUTBOX URL TOKEN. Sends until nothing waits; says what was acknowledged.
import { setTimeout as sleep } from 'node:timers/promises';
import { createOutbox } from '../../../../src/core/outbox/outbox.ts';
import { sendWaiting } from '../../../../src/core/outbox/sender.ts';

const [root = '', url = '', token = ''] = process.argv.slice(2);
const outbox = createOutbox(root);
const client = { name: 'test', version: '0.0.0' };
for (;;) {
  const waiting = (await outbox.list()).filter(({ state }) => state.kind === 'waiting');
  if (waiting.length === 0) break;
  await sendWaiting(
    outbox,
    { url, token },
    { client, onSent: ({ attemptId }) => process.stdout.write(`${attemptId}\n`) },
  ).catch(() => sleep(50));
}
