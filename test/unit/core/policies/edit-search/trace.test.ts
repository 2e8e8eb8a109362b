import { expect, it } from 'vitest';
import {
  instrument,
  readTrace,
  readTraceCommand,
  traceCalls,
} from '../../../../../src/core/policies/edit-search/trace.ts';
import { errorCount } from '../../../../../src/core/tasks/operators/functions.ts';
import { corpus } from '../../tasks/operators/corpus.ts';

const traceable = corpus().filter(({ language }) => language !== 'rust' && language !== 'go');

it.each(traceable.map((file) => [file.name, file] as const))(
  'the instrumented %s still parses, and without the notes it is the source',
  (_name, { text, language }) => {
    const traced = instrument('a', text, language, 1);
    expect(traced).toBeDefined();
    expect(errorCount(traced?.text ?? '', language)).toBe(0);
    expect(traced?.text).not.toBe(text);
    const without = (traced?.text ?? '')
      .replace(/;\(globalThis\.__editSearchSeen.*?"\d+\\n"\)\);/g, '')
      .replace(/^[ \t]*\d+ in globals\(\).*\n/gm, '')
      .replace(/\d+ in globals\(\).*?'\d+\\n'\)\); /g, '');
    expect(without).toBe(text);
  },
);

it('leaves Rust alone: nothing can be noted there without an import', () => {
  expect(instrument('a.rs', 'fn f() { if a { b(); } }', 'rust', 1)).toBeUndefined();
});

it('numbers blocks from the given number on', () => {
  const traced = instrument('a.js', 'function f() { if (a) { b(); } }', 'javascript', 7);
  expect(traced?.blocks.map((block) => block.number)).toEqual([7, 8]);
});

it('reads the numbers and nothing else', () => {
  expect([...readTrace('3\n12\nwarning 4\n')]).toEqual([3, 12]);
  expect([...readTrace(undefined)]).toEqual([]);
});

it('its commands can be read back, odd names and texts included', () => {
  const files = ["it's/a b.js", 'src/$(x).js'].map((path) => {
    const traced = instrument(path, 'function f() {\n  if (a) { b(); }\n}\n', 'javascript', 1);
    if (!traced) throw new Error('not traced');
    return traced;
  });
  const [place, run, restore] = traceCalls(files).map(({ arguments: args }) =>
    String(args.command),
  );
  expect(readTraceCommand(place ?? '')).toEqual({
    kind: 'place',
    texts: new Map(files.map(({ path, text }) => [`/workspace/${path}`, text])),
  });
  expect(readTraceCommand(restore ?? '')).toEqual({ kind: 'restore' });
  for (const other of [run, 'cat src/a.js', 'rm -f /tmp/x', '']) {
    expect(readTraceCommand(other ?? '')).toBeUndefined();
  }
});
