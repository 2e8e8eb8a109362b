import type { AssistantMessage, Message, ToolCall } from '../../agent/messages.ts';
import type { ToolSchema } from '../../tools/tool.ts';

/** The conversation as an endpoint reads it: with native tools, or everything as text. */
export type WireMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly WireCall[];
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface WireTool {
  readonly type: 'function';
  readonly function: ToolSchema;
}

export function wireTools(tools: readonly ToolSchema[]): readonly WireTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/**
 * For servers with native tools. Calls that the model wrote as text stay text, so that it reads
 * back what it sampled; their observations then come as text too, since a `tool` message must
 * answer a native call.
 */
export function nativeMessages(messages: readonly Message[]): readonly WireMessage[] {
  const native = new Set(
    messages.flatMap((message) =>
      message.role === 'assistant' && message.callForm === 'native'
        ? message.calls.map((call) => call.id)
        : [],
    ),
  );
  return joinUsers(messages.map((message) => nativeMessage(message, native)));
}

function nativeMessage(message: Message, native: ReadonlySet<string>): WireMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'assistant':
      return message.callForm === 'native' && message.calls.length > 0
        ? {
            ...assistantText(message),
            content: message.content === '' ? null : message.content,
            tool_calls: message.calls.map(wireCall),
          }
        : assistantText(message);
    case 'tool':
      return native.has(message.callId)
        ? { role: 'tool', tool_call_id: message.callId, content: message.content }
        : { role: 'user', content: toolResponse(message.content) };
  }
}

/** For servers without tools: schemas in the system prompt, calls and observations as text. */
export function textMessages(
  messages: readonly Message[],
  tools: readonly ToolSchema[],
): readonly WireMessage[] {
  const written = messages.map(textMessage);
  if (tools.length === 0) return joinUsers(written);
  const prompt = toolPrompt(tools);
  const [first, ...rest] = written;
  if (first?.role === 'system') {
    return joinUsers([{ role: 'system', content: `${first.content}\n\n${prompt}` }, ...rest]);
  }
  return joinUsers([{ role: 'system', content: prompt }, ...written]);
}

function textMessage(message: Message): WireMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'assistant':
      return message.callForm === 'native'
        ? { ...assistantText(message), content: withCalls(message) }
        : assistantText(message);
    case 'tool':
      return { role: 'user', content: toolResponse(message.content) };
  }
}

/** The Hermes form that Qwen and other models were trained on. */
export function toolPrompt(tools: readonly ToolSchema[]): string {
  const signatures = wireTools(tools).map((tool) => JSON.stringify(tool));
  return [
    '# Tools',
    '',
    'You may call one or more functions to assist with the user query.',
    '',
    'You are provided with function signatures within <tools></tools> XML tags:',
    '<tools>',
    ...signatures,
    '</tools>',
    '',
    'For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:',
    '<tool_call>',
    '{"name": <function-name>, "arguments": <args-json-object>}',
    '</tool_call>',
  ].join('\n');
}

export function hermesCall(call: Pick<ToolCall, 'name' | 'arguments'>): string {
  const json = JSON.stringify({ name: call.name, arguments: call.arguments });
  return `<tool_call>\n${json}\n</tool_call>`;
}

function withCalls(message: AssistantMessage): string {
  const parts = message.content === '' ? [] : [message.content];
  return [...parts, ...message.calls.map(hermesCall)].join('\n');
}

function toolResponse(content: string): string {
  return `<tool_response>\n${content}\n</tool_response>`;
}

function assistantText(message: AssistantMessage): Extract<WireMessage, { role: 'assistant' }> {
  return {
    role: 'assistant',
    content: message.content,
    ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
  };
}

function wireCall(call: ToolCall): WireCall {
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  };
}

/** Many chat templates refuse two user messages in a row. */
function joinUsers(messages: readonly WireMessage[]): readonly WireMessage[] {
  const joined: WireMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'user' && last?.role === 'user') {
      joined[joined.length - 1] = { role: 'user', content: `${last.content}\n${message.content}` };
    } else joined.push(message);
  }
  return joined;
}
