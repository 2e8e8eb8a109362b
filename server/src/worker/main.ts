import { mkdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { GradeReport } from '../../../src/core/grading/types.ts';
import { type FromWorker, toWorkerSchema, workerSettingsSchema } from '../work/messages.ts';
import { createJobRunner } from './run-job.ts';

/**
 * A worker of the server: a process of its own, of low priority, that runs what contributors sent, in
 * sandboxes. It ends when the server does, however that ends.
 */

const settings = workerSettingsSchema.parse(JSON.parse(process.argv[2] ?? ''));
// What it starts inherits it.
setPriority(settings.niceness);
mkdirSync(settings.folder, { recursive: true, mode: 0o700 });

const running = new Map<number, AbortController>();
const asked = new Map<number, (grade: GradeReport | undefined) => void>();
let questions = 0;

const send = (message: FromWorker): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};
const runner = createJobRunner(settings, process.env, {
  find: (key) =>
    new Promise((resolve) => {
      questions += 1;
      asked.set(questions, resolve);
      send({ type: 'grade.find', id: questions, key });
    }),
  keep: (key, grade) => send({ type: 'grade.keep', key, grade }),
});

process.on('message', (value) => {
  const message = toWorkerSchema.parse(value);
  switch (message.type) {
    case 'job': {
      const controller = new AbortController();
      running.set(message.id, controller);
      void runner.run(message.job, controller.signal).then((result) => {
        running.delete(message.id);
        send({ type: 'done', id: message.id, result });
      });
      return;
    }
    case 'cancel':
      running.get(message.id)?.abort(new Error('cancelled by the server'));
      return;
    case 'grade.found':
      asked.get(message.id)?.(message.grade);
      asked.delete(message.id);
  }
});
const end = (): void => {
  for (const controller of running.values()) controller.abort(new Error('the server has ended'));
  const gone = (): void => process.exit(0);
  runner.close().then(gone, gone);
  setTimeout(gone, 5_000).unref();
};
process.on('disconnect', end);
// Ctrl-C reaches the whole group: the server decides when its workers end.
process.on('SIGINT', () => undefined);
setInterval(() => send({ type: 'beat' }), settings.beatMs);
// A server that was killed before this could listen for it.
if (!process.connected) end();
send({ type: 'ready' });
