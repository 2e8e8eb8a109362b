import { z } from 'zod';
import type { ToolCall } from '../agent/messages.ts';
import type { Tool, ToolContext, ToolResult, ToolSchema } from './tool.ts';

/** A call checked against its tool. `reason` is written for the model: what is wrong, what is right. */
export type CheckedCall =
  | { readonly kind: 'ok'; run(context: ToolContext): Promise<ToolResult> }
  | { readonly kind: 'not-well-formed'; readonly reason: string };

interface PropertySchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: unknown;
  readonly anyOf?: readonly PropertySchema[];
}

/** What a model is shown of a tool: only what tells it how to call, so that it stays short and stable. */
export function toToolSchema(tool: Tool): ToolSchema {
  const { name, description, parameters } = tool;
  const schema = z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' });
  return { name, description, parameters: minimal(schema) as Readonly<Record<string, unknown>> };
}

/**
 * Is the call well-formed: a known tool, no unknown, missing or mistyped argument? Never throws.
 *
 * Calls in XML form give every value as text, so text is read as the type that the schema asks for
 * (numbers, true/false, lists as JSON); and null for an optional argument counts as left out, since
 * some models fill in every parameter.
 */
export function checkCall(tools: readonly Tool[], call: ToolCall): CheckedCall {
  const tool = tools.find((candidate) => candidate.name === call.name);
  if (!tool) {
    const names = tools.map((candidate) => candidate.name).join(', ');
    return notWellFormed(`there is no tool ${quote(call.name)}. The tools are: ${names}.`);
  }
  const properties = propertiesOf(tool);
  const parsed = tool.parameters.safeParse(coerce(call.arguments, properties));
  if (parsed.success) {
    return { kind: 'ok', run: (context) => tool.run(parsed.data, context) };
  }
  const problems = parsed.error.issues.map((issue) => explain(issue, properties, call.arguments));
  return notWellFormed(`${tool.name}: ${[...new Set(problems)].slice(0, 3).join('; ')}.`);
}

function notWellFormed(reason: string): CheckedCall {
  return { kind: 'not-well-formed', reason };
}

/** Without what only validators need: the dialect, the closed world, the limits of safe integers. */
function minimal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(minimal);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(
    ([key, item]) =>
      key !== '$schema' &&
      key !== 'additionalProperties' &&
      Math.abs(typeof item === 'number' ? item : 0) !== Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(entries.map(([key, item]) => [key, minimal(item)]));
}

function propertiesOf(tool: Tool): ReadonlyMap<string, PropertySchema> {
  const { properties } = toToolSchema(tool).parameters;
  return new Map(Object.entries((properties ?? {}) as Record<string, PropertySchema>));
}

function coerce(
  given: Readonly<Record<string, unknown>>,
  properties: ReadonlyMap<string, PropertySchema>,
): Record<string, unknown> {
  // A null prototype: an argument may be called `__proto__`.
  const result: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const schema = properties.get(name);
    if (value === null && schema) continue;
    result[name] = typeof value === 'string' && schema ? readText(value, schema) : value;
  }
  return result;
}

/** The value that a text stands for under a schema; the text itself where it stands for none. */
function readText(text: string, schema: PropertySchema): unknown {
  for (const type of typesOf(schema)) {
    const trimmed = text.trim();
    switch (type) {
      case 'string':
        return text;
      case 'number':
      case 'integer':
        if (/^[+-]?\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed);
        break;
      case 'boolean':
        if (/^true$/i.test(trimmed)) return true;
        if (/^false$/i.test(trimmed)) return false;
        break;
      case 'array':
      case 'object': {
        const value = parseJson(trimmed);
        if (Array.isArray(value) ? type === 'array' : typeof value === 'object') return value;
        break;
      }
    }
  }
  return text;
}

function typesOf(schema: PropertySchema): readonly string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(typesOf);
  return schema.type === undefined ? [] : [schema.type];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function explain(
  issue: z.core.$ZodIssue,
  properties: ReadonlyMap<string, PropertySchema>,
  given: Readonly<Record<string, unknown>>,
): string {
  if (issue.code === 'custom') return issue.message;
  const known = [...properties.keys()].join(', ') || 'none';
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    const names = issue.keys.map(quote).join(', ');
    return `unknown parameter ${names} (the parameters are: ${known})`;
  }
  const name = String(issue.path[0] ?? '');
  const schema = properties.get(name);
  if (!schema) return issue.message;
  const wanted = describe(schema);
  const value = given[name];
  if (value === undefined || value === null) return `missing parameter ${quote(name)}: ${wanted}`;
  return `parameter ${quote(name)} must be ${wanted}, not ${show(value)}`;
}

function describe(schema: PropertySchema): string {
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  switch (typesOf(schema)[0]) {
    case 'string':
      return 'a text';
    case 'integer':
      return 'a whole number';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'array': {
      const items = schema.items as PropertySchema | undefined;
      if (items?.type === 'string') return 'a list of texts like ["a", "b"]';
      if (items?.type === 'integer') return 'a list of whole numbers like [1, 20]';
      return 'a list';
    }
    default:
      return 'an object';
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function quote(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}
