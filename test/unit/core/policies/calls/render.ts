import type { CallForm } from '../../../../../src/core/agent/messages.ts';

/** Writes a call the way models do; the reading side must give it back unchanged. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type TextForm = Exclude<CallForm, 'native' | 'nano' | 'none'>;

export function renderCall(form: TextForm, call: WrittenCall): string {
  const json = JSON.stringify({ name: call.name, arguments: call.arguments });
  switch (form) {
    case 'hermes':
      return `<tool_call>\n${json}\n</tool_call>`;
    case 'xml':
      return renderXml(call);
    case 'fence':
      return `\`\`\`json\n${JSON.stringify(JSON.parse(json), null, 2)}\n\`\`\``;
    case 'json':
      return json;
    case 'tools-tag':
      return `<tools>\n${json}\n</tools>`;
  }
}

export function renderXml(call: WrittenCall): string {
  const parameters = Object.entries(call.arguments).map(
    ([key, value]) =>
      `<parameter=${key}>\n${typeof value === 'string' ? value : JSON.stringify(value)}\n</parameter>\n`,
  );
  return `<tool_call>\n<function=${call.name}>\n${parameters.join('')}</function>\n</tool_call>`;
}
