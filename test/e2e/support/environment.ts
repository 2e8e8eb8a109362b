import { z } from 'zod';

const schema = z.object({
  vscode: z.object({
    folder: z.string(),
    node: z.string(),
    entry: z.string(),
    chromium: z.string(),
  }),
  /** With the packaged extension in it. */
  extensions: z.string(),
  /** Where pictures and logs of failed tests go. */
  failures: z.string(),
});

/** What scripts/test-e2e.mjs has prepared. */
export function e2eEnvironment(): z.output<typeof schema> {
  const text = process.env.PRIME_AGENT_E2E;
  if (text === undefined) {
    throw new Error('VS Code and the packaged extension are not prepared: use npm run test:e2e.');
  }
  return schema.parse(JSON.parse(text));
}
