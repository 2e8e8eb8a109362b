import { describe, expect, it } from 'vitest';
import { applyEdit, type Language } from '../../../../../src/core/tasks/operators/edit.ts';
import { errorCount } from '../../../../../src/core/tasks/operators/functions.ts';
import { listEdits } from '../../../../../src/core/tasks/operators/list-edits.ts';
import { OPERATORS } from '../../../../../src/core/tasks/operators/operator-table.ts';
import { corpus, sample } from './corpus.ts';

const files = corpus();

describe.each(files.map((file) => [file.name, file] as const))('edits of %s', (_name, file) => {
  const { text, language } = file;
  const edits = listEdits(text, language);

  it('differ from the source and from each other', () => {
    const results = edits.map((edit) => applyEdit(text, edit));
    expect(results.filter((result) => result === text)).toEqual([]);
    expect(new Set(results).size).toBe(results.length);
  });

  it('say what they replace and come in the order of the text, the same each time', () => {
    for (const edit of edits) {
      expect(text.slice(edit.from, edit.to)).toBe(edit.oldText);
      expect(edit.line).toBe(text.slice(0, edit.from).split('\n').length);
      expect(edit.prior).toBeGreaterThan(0);
    }
    const places = edits.map((edit) => edit.from);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(listEdits(text, language)).toEqual(edits);
  });

  it('leave a source that parses', () => {
    const before = errorCount(text, language);
    expect(before).toBe(0);
    const broken = sample(edits, 150).filter(
      (edit) => errorCount(applyEdit(text, edit), language) > 0,
    );
    expect(broken.map((edit) => [edit.operator, edit.line, edit.oldText, edit.newText])).toEqual(
      [],
    );
  });

  it('can be undone by the inverse operator where the table says so', () => {
    const stuck = sample(edits, 60).filter((edit) => {
      const { inverse } = OPERATORS[edit.operator];
      if (inverse === null || edit.operator === 'property-replace') return false;
      const bug = applyEdit(text, edit);
      const near = [{ from: edit.from - 1000, to: edit.from + edit.newText.length + 1000 }];
      return !listEdits(bug, language, { ranges: near }).some(
        (fix) => applyEdit(bug, fix) === text,
      );
    });
    expect(stuck.map((edit) => [edit.operator, edit.line, edit.oldText, edit.newText])).toEqual([]);
  });

  it('are those of the ranges only, when ranges are given', () => {
    const range = { from: Math.floor(text.length / 3), to: Math.floor(text.length / 2) };
    const inside = edits.filter((edit) => edit.from >= range.from && edit.from < range.to);
    expect(listEdits(text, language, { ranges: [range] })).toEqual(inside);
  });
});

/** [language, bug, fix]: the fix is one of the edits of the bug. */
const fixes: readonly (readonly [Language, string, string])[] = [
  ['javascript', 'if (a < b) f();', 'if (a <= b) f();'],
  ['javascript', 'const x = a === b;', 'const x = a !== b;'],
  ['javascript', 'x -= 1;', 'x += 1;'],
  ['javascript', 'const t = n / 100;', 'const t = n * 100;'],
  ['javascript', 'const m = a + b / 2;', 'const m = (a + b) / 2;'],
  ['javascript', 'xs.sort((a, b) => b - a);', 'xs.sort((a, b) => a - b);'],
  ['javascript', 'xs.sort();', 'xs.sort((a, b) => a - b);'],
  ['javascript', 'xs.sort();', '[...xs].sort();'],
  [
    'javascript',
    'function f(a) { if (a.ok && !a.done) g(); }',
    'function f(a) { if (a.ok && a.done) g(); }',
  ],
  ['javascript', 'const v = x || 5;', 'const v = x ?? 5;'],
  ['javascript', 'for (let i = 0; i < n - 1; i++) f(i);', 'for (let i = 0; i < n; i++) f(i);'],
  ['javascript', 'for (let i = 1; i < n; i++) f(i);', 'for (let i = 0; i < n; i++) f(i);'],
  ['javascript', 'f(xs.slice(0, n));', 'f(xs.slice(0, n + 1));'],
  ['javascript', 'const l = xs[xs.length];', 'const l = xs[xs.length - 1];'],
  ['javascript', 'f(width, height);', 'f(height, width);'],
  ['javascript', 'const m = Math.min(a, b);', 'const m = Math.max(a, b);'],
  [
    'javascript',
    'function f(price, qty) { return price * price; }',
    'function f(price, qty) { return price * qty; }',
  ],
  [
    'javascript',
    'const o = (p) => p.width * p.height + p.width;',
    'const o = (p) => p.width * p.height + p.height;',
  ],
  ['javascript', 'function f() {\n  g(1);\n}', 'function f() {\n  return g(1);\n}'],
  [
    'javascript',
    'async function f() { const r = g(); }',
    'async function f() { const r = await g(); }',
  ],
  ['javascript', 'throw Foo(2);', 'throw new Foo(2);'],
  ['javascript', 'const r = a ? b : c;', 'const r = a ? c : b;'],
  ['javascript', "const s = xs.join(',');", "const s = xs.join(', ');"],
  ['javascript', 'const s = t.replace(/a/, b);', 'const s = t.replace(/a/g, b);'],
  ['javascript', 'const n = a.b.c;', 'const n = a?.b.c;'],
  ['javascript', 'const n = null;', 'const n = undefined;'],
  [
    'javascript',
    'function f(a) {\n  x = a;\n  a = 1;\n}\n',
    'function f(a) {\n  a = 1;\n  x = a;\n}\n',
  ],
  [
    'javascript',
    'function f(a) {\n  for (const x of a) {\n    g(x);\n    h();\n  }\n}\n',
    'function f(a) {\n  for (const x of a) {\n    g(x);\n  }\n  h();\n}\n',
  ],
  ['tsx', 'const x = <A b={n + 1} c={!d && e} />;', 'const x = <A b={n + 1} c={d && e} />;'],
  [
    'typescript',
    'const n: number = a as number <= 3 ? 1 : 2;',
    'const n: number = a as number <= 3 ? 2 : 1;',
  ],
  ['python', 'for i in range(n): pass', 'for i in range(n + 1): pass'],
  ['python', 'for i in range(1, n): pass', 'for i in range(0, n): pass'],
  ['python', 'if a in b: pass', 'if a not in b: pass'],
  ['python', 'if a is not None: pass', 'if a is None: pass'],
  ['python', 'if a and b: pass', 'if a or b: pass'],
  ['python', 'if a: pass', 'if not a: pass'],
  ['python', 'x = a / 2', 'x = a // 2'],
  ['python', 'x = any(xs)', 'x = all(xs)'],
  ['python', 'xs.append(y)', 'xs.extend(y)'],
  ['python', 'x = xs[1:]', 'x = xs[1:-1]'],
  ['python', 'x = xs[:n]', 'x = xs[:n + 1]'],
  ['python', 'x = True', 'x = False'],
  ['python', 'x = s.lower()', 'x = s.upper()'],
  ['python', 'x = a - b', 'x = b - a'],
  ['python', 'x = p if c else q', 'x = q if c else p'],
  ['python', 'while True:\n    break\n', 'while True:\n    continue\n'],
  [
    'python',
    'def f(xs):\n    for x in xs:\n        g(x)\n        return xs\n',
    'def f(xs):\n    for x in xs:\n        g(x)\n    return xs\n',
  ],
  [
    'python',
    'def f(x, acc=[]):\n    acc.append(x)\n    return acc\n',
    'def f(x, acc=None):\n    if acc is None:\n        acc = []\n    acc.append(x)\n    return acc\n',
  ],
  [
    'python',
    'class A:\n    def f(self):\n        self.lo = 1\n        self.hi = self.lo\n',
    'class A:\n    def f(self):\n        self.lo = 1\n        self.hi = self.hi\n',
  ],
  ['rust', 'fn f() { if a < b { g(); } }', 'fn f() { if a <= b { g(); } }'],
  ['rust', 'fn f() { for i in 0..n { g(i); } }', 'fn f() { for i in 0..=n { g(i); } }'],
  ['rust', 'fn f() { for i in 1..=n { g(i); } }', 'fn f() { for i in 1..n { g(i); } }'],
  ['rust', 'fn f() { for i in 0..n { g(i); } }', 'fn f() { for i in 0..n - 1 { g(i); } }'],
  ['rust', 'fn f() -> i32 { a - b }', 'fn f() -> i32 { b - a }'],
  ['rust', 'fn f() -> bool { a && !b.c() }', 'fn f() -> bool { a || !b.c() }'],
  ['rust', 'fn f() -> bool { a.b() }', 'fn f() -> bool { !a.b() }'],
  ['rust', 'fn f() { self.x -= 1; }', 'fn f() { self.x += 1; }'],
  ['rust', 'fn f(a: u8, b: u8) -> u8 { a.min(b) }', 'fn f(a: u8, b: u8) -> u8 { a.max(b) }'],
  ['rust', 'fn f(w: u8, h: u8) -> u8 { w * w }', 'fn f(w: u8, h: u8) -> u8 { w * h }'],
  ['rust', 'fn f() { g(a, b); }', 'fn f() { g(b, a); }'],
  ['rust', 'fn f() { let m = (a + b) / 2; }', 'fn f() { let m = (a - b) / 2; }'],
  ['rust', 'fn f() { let l = xs[n]; }', 'fn f() { let l = xs[n - 1]; }'],
  ['rust', 'fn f() { loop { break; } }', 'fn f() { loop { continue; } }'],
  ['rust', 'fn f() { s.join(","); }', 'fn f() { s.join(", "); }'],
  [
    'rust',
    'fn f(&mut self) { self.lo = 1; self.hi = self.lo; }',
    'fn f(&mut self) { self.lo = 1; self.hi = self.hi; }',
  ],
  [
    'rust',
    'fn f() {\n    for x in a {\n        g(x);\n        h();\n    }\n}\n',
    'fn f() {\n    for x in a {\n        g(x);\n    }\n    h();\n}\n',
  ],
  ['go', 'func f() { if a < b { g() } }', 'func f() { if a <= b { g() } }'],
  [
    'go',
    'func f() { for i := 0; i < n; i++ { g(i) } }',
    'func f() { for i := 0; i <= n; i++ { g(i) } }',
  ],
  [
    'go',
    'func f() { for i := 0; i < n; i++ { g(i) } }',
    'func f() { for i := 1; i < n; i++ { g(i) } }',
  ],
  [
    'go',
    'func f() { for i := n; i > 0; i++ { g(i) } }',
    'func f() { for i := n; i > 0; i-- { g(i) } }',
  ],
  ['go', 'func f() int { return a - b }', 'func f() int { return b - a }'],
  ['go', 'func f() bool { return a && !b.c() }', 'func f() bool { return a || !b.c() }'],
  ['go', 'func f() bool { return b.c() }', 'func f() bool { return !b.c() }'],
  ['go', 'func f() { if x := g(); x { h() } }', 'func f() { if x := g(); !x { h() } }'],
  ['go', 'func f() { s.x -= 1 }', 'func f() { s.x += 1 }'],
  ['go', 'func f(a, b int) int { return min(a, b) }', 'func f(a, b int) int { return max(a, b) }'],
  ['go', 'func f(w, h int) int { return w * w }', 'func f(w, h int) int { return w * h }'],
  ['go', 'func f(a, b int) { g(a, b) }', 'func f(a, b int) { g(b, a) }'],
  ['go', 'func f() { m := (a + b) / 2 }', 'func f() { m := (a - b) / 2 }'],
  ['go', 'func f() { l := xs[n] }', 'func f() { l := xs[n - 1] }'],
  ['go', 'func f() { s := t[1:] }', 'func f() { s := t[0:] }'],
  ['go', 'func f() { for { break } }', 'func f() { for { continue } }'],
  ['go', 'func f() { strings.Join(a, ",") }', 'func f() { strings.Join(a, ", ") }'],
  [
    'go',
    'func f() { ok := strings.HasPrefix(a, b) }',
    'func f() { ok := strings.HasSuffix(a, b) }',
  ],
  ['go', 'func f() { ok := true\n\tg(ok)\n}\n', 'func f() { ok := false\n\tg(ok)\n}\n'],
  [
    'go',
    'func (s *S) f() {\n\ts.lo = 1\n\ts.hi = s.lo\n}\n',
    'func (s *S) f() {\n\ts.lo = 1\n\ts.hi = s.hi\n}\n',
  ],
  [
    'go',
    'func f() {\n\tfor range n {\n\t\tg(x)\n\t\th()\n\t}\n}\n',
    'func f() {\n\tfor range n {\n\t\tg(x)\n\t}\n\th()\n}\n',
  ],
];

describe('the edits of a typical bug hold its fix', () => {
  it.each(fixes)('%s: %s', (language, bug, fix) => {
    const results = listEdits(bug, language).map((edit) => applyEdit(bug, edit));
    expect(results).toContain(fix);
  });
});

/** [language, source, text that no edit may give]. */
const never: readonly (readonly [Language, string, RegExp])[] = [
  ['javascript', "import { a } from './a-b.js';", /./],
  ['javascript', "const a = require('./x, y');", /'\.\/x, y '/],
  ['javascript', "'use strict';", /./],
  ['javascript', 'const x = a-0;', /a--/],
  ['javascript', 'const x = (-a) + -1 ** 2;', /\*\* -/],
  ['javascript', 'const x = a ?? (b || c);', /a \|\| \(b \?\? c\) \?\?/],
  ['javascript', 'a.b = 1;', /\?\./],
  ['typescript', 'let n: "a, b" = f(); type T = 1 | 2;', /type T = [^1]|"a,b"/],
  ['rust', 'use a::b; #[cfg(a = "x, y")] struct S { a: [u8; 4] }', /./],
  ['rust', '#[cfg(test)]\nmod tests { fn f() { if a < 1 { g(a, b); } } }', /./],
  ['rust', '#[test]\nfn f() { assert_eq!(a - b, 1); }', /./],
  ['rust', 'fn f() { t.0 = u; }', /t\.1/],
  ['rust', 'fn f() -> u8 { loop { break 5; } }', /continue/],
  ['rust', 'fn f() { g(x); }', /return|await|let|g\(\)/],
  ['rust', 'fn f(b: u8, c: u8) -> S { S { b, d: c } }', /S \{ [^bS]/],
  ['go', 'package a\nimport "a, b"\ntype S struct { a [4]int; b string `c, d` }', /./],
  ['go', 'func f() { for range n { g() } }', /range !|range -|!n/],
  ['go', 'func f() { for _, v := range xs { g(v) } }', /range !/],
  ['go', 'func f() { p := &a; *p = <-c }', /[&*] |-&|<-b|--/],
  ['go', 'func f() { switch x.(type) { case int: g() } }', /case [^i]|type [+-]/],
  ['go', 'func f() { g(x) }', /return|await|g\(\)/],
  ['go', 'func f(b, c int) S { return S{b: c} }', /S\{[^b]/],
  ['go', '// a < b\nvar s = "x" // c > d', /<=|>=/],
  ['python', '"""doc, string."""', /./],
  ['python', 'from a import b', /./],
  ['python', 'x = "%s, %d" % (a, b)', /"%s, %d" \//],
];

describe('what would not be a program is never offered', () => {
  it.each(never)('%s: %s', (language, source, pattern) => {
    const results = listEdits(source, language).map((edit) => applyEdit(source, edit));
    expect(results.filter((result) => pattern.test(result))).toEqual([]);
  });
});

it('edits what the parser understands of a source that it does not understand everywhere', () => {
  const source = 'match x:\n    case {"k": str() as k}:\n        pass\ny = a < b\n';
  const before = errorCount(source, 'python');
  expect(before).toBeGreaterThan(0);
  const results = listEdits(source, 'python').map((edit) => applyEdit(source, edit));
  expect(results.some((result) => result.includes('y = a <= b'))).toBe(true);
  expect(results.filter((result) => errorCount(result, 'python') > before)).toEqual([]);
});

it('lists the edits of a thousand lines in well under a second', () => {
  const file = files.find((candidate) => candidate.name.endsWith('help.js'));
  const unit = file?.text ?? '';
  expect(unit).not.toBe('');
  listEdits(unit, 'javascript');
  const started = performance.now();
  listEdits(unit, 'javascript');
  const perThousand = ((performance.now() - started) * 1000) / unit.split('\n').length;
  // About 60 ms when nothing else runs; the bound only catches something quadratic.
  expect(perThousand).toBeLessThan(1_500);
});
