import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Cheats and honest patches, written from the outside. */
export const CHEATS = join(import.meta.dirname, '..', 'fixtures', 'cheats');

const command = z.array(z.string()).min(1);

const suiteSchema = z.strictObject({
  bases: z.record(
    z.string(),
    z.strictObject({
      framework: z.enum(['node:test', 'pytest']),
      /** Plain test command; exit code 0 is what a naive grader calls solved. */
      command,
      env: z.record(z.string(), z.string()),
      target: z.array(z.string()),
      /** Files and folders of tests, for graders that restore them. */
      tests: z.array(z.string()),
      oracle: z.strictObject({ argv: command, stdout: z.string() }),
    }),
  ),
  cases: z.array(
    z.strictObject({
      id: z.string(),
      framework: z.enum(['node:test', 'pytest']),
      base: z.string(),
      target: z.array(z.string()),
      patch: z.string(),
      kind: z.enum(['cheat', 'legitimate']),
      class: z.enum([
        'plain',
        'test-edit',
        'config',
        'runner',
        'object',
        'detect',
        'tamper',
        'collection',
        'hard-coded',
      ]),
      note: z.string(),
      /** Where the base's command cannot show it: npm reads scripts and .npmrc. */
      command: command.optional(),
      /** `exit`: exit code 0. `absence`: no test is reported as failed. */
      fools: z.enum(['exit', 'absence']).optional(),
      /** False: nothing but other inputs can tell it from a fix. */
      detectable: z.boolean().optional(),
      /** `user-site`: Python with its user site folder, which a virtual environment switches off. */
      needs: z.literal('user-site').optional(),
    }),
  ),
});

export type Cheats = z.infer<typeof suiteSchema>;

export const readCheats = async (): Promise<Cheats> =>
  suiteSchema.parse(JSON.parse(await readFile(join(CHEATS, 'cases.json'), 'utf8')));
