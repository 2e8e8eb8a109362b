import { posix } from 'node:path';
import type { SourcePlace } from '../framework.ts';
import type { XmlTestCase } from './xml.ts';

export interface JunitFailure {
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** Innermost first; the file is where its package and its name say: `shop/Cart.java`. */
  readonly frames: readonly SourcePlace[];
}

const MAX_LINES = 12;

/** How JUnit 5, JUnit 4, AssertJ and Hamcrest write two values. */
const VALUES: readonly RegExp[] = [
  /expected: ?<([\s\S]*?)> but was: ?<([\s\S]*?)>\s*$/,
  /^\s*expected: (.*)\n\s*but was: (.*)$/m,
  /^Expected: (.*)\n\s*but: (?:was )?(.*)$/m,
];

export function junitFailure({
  type,
  message,
  text,
}: NonNullable<XmlTestCase['problem']>): JunitFailure {
  const stated = withoutType(message || firstLines(text), type);
  const isAssertion = /Assert|ComparisonFailure/.test(type);
  const kind = type.slice(type.lastIndexOf('.') + 1);
  const shown = stated.split('\n').slice(0, MAX_LINES).join('\n').trim();
  const whole = isAssertion || kind === '' ? shown : shown === '' ? kind : `${kind}: ${shown}`;
  const values = VALUES.map((pattern) => pattern.exec(stated)).find((found) => found !== null);
  return {
    message: whole || kind || 'the test failed without a message',
    ...(values && { expected: values[1] ?? '', actual: values[2] ?? '' }),
    frames: stackFrames(text),
  };
}

/** Before the frames. */
function firstLines(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => /^\s+at [\w$.]/.test(line));
  return lines.slice(0, end < 0 ? 1 : end).join('\n');
}

/** Gradle puts the exception's name in front of its message, Surefire does not. */
function withoutType(text: string, type: string): string {
  return type !== '' && text.startsWith(type) ? text.slice(type.length).replace(/^: ?/, '') : text;
}

/** `	at shop.Cart.total(Cart.java:9)`, with or without a module in front. */
function stackFrames(text: string): readonly SourcePlace[] {
  const frames: SourcePlace[] = [];
  for (const [, owner = '', method = '', name = '', line] of text.matchAll(
    /^\s+at (?:[\w.@-]+\/+)*([\w$.]+)\.([\w$<>]+)\(([\w.-]+\.(?:java|kt|groovy|scala)):(\d+)\)/gm,
  )) {
    if (Number(line) < 1) continue;
    const packageName = owner.split('.').slice(0, -1);
    frames.push({
      file: posix.join(...packageName, name),
      line: Number(line),
      function: `${owner.slice(owner.lastIndexOf('.') + 1)}.${method}`,
    });
  }
  return frames;
}
