import { expect, test } from 'vitest';
import { openEditor } from './support/editor.ts';
import { copyExample } from './support/example.ts';
import { eventually } from './support/workbench.ts';

const COMMAND = 'Prime Agent: Fix failing test';

test('the packaged extension activates, and the palette offers its command', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench, logs } = await openEditor({ folder });

  await eventually(async () => extensionHostLog(await logs())).toContain(
    '_doActivateExtension prime-agent.prime-agent',
  );
  await eventually(() => workbench.commandsFor('Prime Agent')).toContain(COMMAND);
  expect(extensionHostLog(await logs())).not.toMatch(/\[error\].*prime-agent/i);
});

function extensionHostLog(logs: ReadonlyMap<string, string>): string {
  return [...logs].flatMap(([file, text]) => (/exthost\.log$/.test(file) ? [text] : [])).join('\n');
}
