import { onTestFinished } from 'vitest';
import { type ChatServer, startChatServer, stream } from '../core/policies/chat-server.ts';

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** One reply: its calls. */
export type ScriptedTurn = readonly ScriptedCall[];

export const replace = (path: string, from: string, to: string): ScriptedCall => ({
  name: 'str_replace_editor',
  arguments: { command: 'str_replace', path: `/workspace/${path}`, old_str: from, new_str: to },
});
export const create = (path: string, text: string): ScriptedCall => ({
  name: 'str_replace_editor',
  arguments: { command: 'create', path: `/workspace/${path}`, file_text: text },
});
export const bash = (command: string): ScriptedCall => ({ name: 'bash', arguments: { command } });
export const submit = (summary: string): ScriptedCall => ({
  name: 'submit',
  arguments: { summary },
});

/**
 * An OpenAI-compatible server that plays a script per task: `script` gets the first user message,
 * and the reply is the one after as many as the conversation already holds.
 */
export async function playScript(
  script: (task: string) => readonly ScriptedTurn[],
): Promise<ChatServer> {
  const server = await startChatServer((asked, response) => {
    const messages = asked.body.messages as readonly { role: string; content: string }[];
    const task = messages.find((message) => message.role === 'user')?.content ?? '';
    const index = messages.filter((message) => message.role === 'assistant').length;
    const turn = script(task)[index] ?? [submit('nothing more to do')];
    stream(
      response,
      {
        choices: [
          {
            index: 0,
            delta: {
              role: 'assistant',
              tool_calls: turn.map((call, at) => ({
                index: at,
                id: `call-${index}-${at}`,
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.arguments) },
              })),
            },
          },
        ],
      },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      { choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } },
    );
  });
  onTestFinished(() => server.close());
  return server;
}
