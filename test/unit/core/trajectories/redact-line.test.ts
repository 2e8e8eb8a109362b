import { expect, test } from 'vitest';
import { createRedactor } from '../../../../src/core/redaction/redactor.ts';
import { redactLine } from '../../../../src/core/trajectories/redact-line.ts';
import { randomSecret } from '../redaction/generate.ts';
import { end, header, turn } from './make.ts';

const secret = randomSecret(20);
const redactor = createRedactor({ extraSecrets: [secret] });

test('every text that no policy sampled is redacted', async () => {
  const lines = [
    header({
      policy: { ...header().policy, label: secret, model: secret },
      task: { ...header().task, targets: [secret], workspaceName: secret },
      messages: [
        { role: 'user', content: secret },
        { role: 'tool', callId: 'c', name: 'bash', content: secret },
      ],
    }),
    turn(0, {
      observations: [
        {
          callId: 'call-0',
          name: 'bash',
          ok: true,
          content: secret,
          detail: { changed: [secret] },
          durationMs: 1,
        },
      ],
      nudge: secret,
    }),
    end({ reason: secret, patch: secret, summary: secret, flags: [secret] }),
    end({ end: { kind: 'infrastructure', reason: secret, remedy: secret } }),
    end({ end: { kind: 'invalid_tool_call', reason: secret } }),
  ];
  for (const line of lines) {
    const redacted = await redactLine(line, redactor);
    expect(JSON.stringify(redacted)).not.toContain(secret);
    expect(await redactLine(redacted, redactor)).toEqual(redacted);
  }
});

test('a sampled reply stays as it was sampled', async () => {
  const reply = { ...turn(0).reply, content: secret };
  const line = turn(0, { reply });
  expect(await redactLine(line, redactor)).toEqual(line);
});

test('a patch that redaction changed says so, an unchanged one does not', async () => {
  expect(await redactLine(end({ patch: secret }), redactor)).toMatchObject({ patchRedacted: true });
  expect(await redactLine(end(), redactor)).not.toHaveProperty('patchRedacted');
});
