import { onTestFinished } from 'vitest';
import { startChatServer, stream } from '../../integration/core/policies/chat-server.ts';

/** An OpenAI-compatible server whose model runs one command, then submits. @returns its base address */
export async function startScriptedModel(command: string, summary: string): Promise<string> {
  const server = await startChatServer((asked, response) => {
    const messages = asked.body.messages as readonly { readonly role: string }[];
    const first = !messages.some(({ role }) => role === 'assistant');
    const [name, args] = first ? ['bash', { command }] : ['submit', { summary }];
    const call = { index: 0, id: `call_${messages.length}`, type: 'function' };
    stream(
      response,
      {
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ ...call, function: { name, arguments: JSON.stringify(args) } }],
            },
          },
        ],
      },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    );
  });
  onTestFinished(() => server.close());
  return server.baseUrl;
}
