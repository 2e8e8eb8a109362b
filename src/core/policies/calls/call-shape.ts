/** Which JSON values are calls. Several spellings are in use; all mean a name and arguments. */
export interface BareCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type Shape =
  | { readonly kind: 'call'; readonly call: BareCall }
  /** Meant as a call, but not well-formed. */
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'other' };

const FORM = 'Write {"name": "<tool>", "arguments": {…}}.';

/**
 * @param explicit the value stood where only a call can stand (a call tag, a native call). Then
 * everything that is not a call is malformed, and arguments may be left out for a tool without any.
 */
export function shapeOf(value: unknown, explicit: boolean): Shape {
  if (!isRecord(value)) {
    return explicit ? malformed(`A call must be a JSON object. ${FORM}`) : { kind: 'other' };
  }
  // {"type": "function", "function": {"name": …, "arguments": …}} is the native form as text.
  const inner = isRecord(value.function) ? value.function : value;
  // An echoed tool definition has a description; a call never has.
  if ('description' in inner && !('arguments' in inner)) return { kind: 'other' };
  const name = typeof inner.name === 'string' ? inner.name : stringOrNothing(value.function);
  const given =
    firstOf(inner, ['arguments', 'parameters']) ?? firstOf(value, ['arguments', 'parameters']);
  if (!explicit && (name === undefined || given === undefined)) return { kind: 'other' };
  if (name === undefined || name === '') return malformed(`The call has no "name". ${FORM}`);
  return withArguments(name, given?.value);
}

/** Arguments as an object, as a JSON string, as a JSON string of a JSON string, or left out. */
export function withArguments(name: string, given: unknown): Shape {
  let value = given;
  for (let unwrapped = 0; typeof value === 'string' && unwrapped < 2; unwrapped += 1) {
    if (value.trim() === '') {
      value = undefined;
      break;
    }
    try {
      value = JSON.parse(value);
    } catch {
      return malformed(`The arguments of "${name}" are not valid JSON. ${FORM}`);
    }
  }
  if (value === undefined || value === null) value = {};
  if (!isRecord(value)) {
    return malformed(`The arguments of "${name}" must be a JSON object. ${FORM}`);
  }
  return { kind: 'call', call: { name, arguments: value } };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstOf(
  value: Record<string, unknown>,
  keys: readonly string[],
): { readonly value: unknown } | undefined {
  for (const key of keys) if (Object.hasOwn(value, key)) return { value: value[key] };
  return undefined;
}

function stringOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function malformed(reason: string): Shape {
  return { kind: 'malformed', reason };
}
