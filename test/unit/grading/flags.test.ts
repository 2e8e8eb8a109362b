import { describe, expect, it } from 'vitest';
import { flagPatch } from '../../../src/core/grading/flags.ts';

/** A patch that adds a file with these lines. */
function adding(path: string, text: string, mode = '100644'): string {
  const lines = text.split('\n');
  return [
    `diff --git a/${path} b/${path}`,
    `new file mode ${mode}`,
    '--- /dev/null',
    `+++ b/${path}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n');
}

const rules = (patch: string): string[] =>
  flagPatch(patch, new Set()).map((flag) => `${flag.rule} ${flag.line ?? '-'}`);

describe('flags see what runs, however it is written', () => {
  it.each([
    ['behind a comment', '/* x */ process.exit(0);', 'exit 1'],
    ['over several lines', 'let a;\nprocess\n  .exit(0);', 'exit 2'],
    ['destructured', 'const { exit } = process;', 'exit 1'],
    ['imported by name', "import { exit } from 'node:process';", 'exit 1'],
    ['with escapes', 'process.\\u0065xit(0);', 'exit 1'],
    ['as an alias', 'const p = process;', 'exit 1'],
    ['a module whose name is computed', "require('node:' + kind);", 'dynamic-code 1'],
    ['require under another name', 'const load = require;', 'dynamic-code 1'],
    ['code out of a text file', "require('./notes.txt');", 'dynamic-code 1'],
    ['behind text that looks like a comment', "const a = ' // '; process.exit(0);", 'exit 1'],
    ['a multiplication in front', 'let b = 2\n* process.exit(0);', 'exit 2'],
    ['the runner’s own serialiser', "require('node:v8');", 'runner-internals 1'],
    ['the caller of a function', 'const text = String(f.caller);', 'test-detection 1'],
    ['the stack, destructured', 'const { stack } = new Error();', 'test-detection 1'],
    ['a test file', "readFileSync('test/a.test.js');", 'test-files 1'],
    ['process tables in pieces', "join(sep, 'proc', id, 'fd');", 'descriptors 1'],
    ['a runner of the project', "require('tape/lib/test');", 'runner-internals 1'],
    ['what vitest leaves behind', 'globalThis.__vitest_worker__.rpc;', 'runner-internals 1'],
    ['a hook for the tests', 'beforeEach(function () { });', 'runner-internals 1'],
    ['a test of its own', "it('is fine', () => {});", 'runner-internals 1'],
    ['the global test function', 'globalThis.test?.concurrent;', 'runner-internals 1'],
    ['lines of the protocol', "console.log('    ok 1 - adds');", 'runner-internals 1'],
  ])('JavaScript: %s', (_, text, expected) => {
    expect(rules(adding('src/a.js', text))).toContain(expected);
  });

  it.each([
    ['behind text that looks like a comment', 'a = " # "; __eq__ = f', 'comparison 1'],
    ['equal to everything', 'from unittest.mock import ANY', 'comparison 1'],
    ['imported by name', 'from os import path, _exit', 'exit 1'],
    ['in brackets', 'from os import (\n    path,\n    _exit,\n)', 'exit 1'],
    ['look-alike letters', 'os._ｅxit(0)', 'exit 1'],
    ['a module by its import function', 'm = __import__("s" + "ys")', 'builtins 1'],
    ['a function of another class', 'case.TestCase.assertEqual = lambda *a: None', 'builtins 1'],
    ['a caller by its traceback', 'f = error.__traceback__.tb_frame.f_back', 'test-detection 1'],
    ['all of the environment', 'any("x" in v for v in os.environ.values())', 'test-detection 1'],
    ['a descriptor by number', 'open(n, "wb", closefd=False)', 'descriptors 1'],
    ['pickled code', 'import pickle', 'dynamic-code 1'],
    ['an encoding that hides the text', '# coding: utf-7', 'dynamic-code 1'],
    ['a test file', 'Path("tests/test_fees.py")', 'test-files 1'],
  ])('Python: %s', (_, text, expected) => {
    expect(rules(adding('src/a.py', text))).toContain(expected);
  });

  it.each([
    ['src/a.go', 'import "testing"', 'runner-internals 1'],
    ['src/a.go', 'import (\n\t"fmt"\n\t"testing/quick"\n)', 'runner-internals 3'],
    ['src/a.go', '//go:linkname failed testing.(*common).Fail', 'runner-internals 1'],
    ['src/a.go', 'fmt.Println("--- PASS: TestAdd (0.00s)")', 'runner-internals 1'],
    ['src/a.go', 'os.Exit(0)', 'exit 1'],
    ['src/a.go', '*p = f()\nos.Exit(0)', 'exit 2'],
    ['src/a.go', 'func init() { done() }', 'exit 1'],
    ['src/a.go', 'log.Fatalf("x")', 'exit 1'],
    ['src/a.go', 'import "unsafe"', 'builtins 1'],
    ['src/a.go', 'if strings.HasSuffix(os.Args[0], ".test") {', 'test-detection 1'],
    ['src/a.go', '_, file, _, _ := runtime.Caller(1)', 'test-detection 1'],
    ['src/a.go', 'flag.Lookup("test.v") != nil', 'test-detection 1'],
    ['src/a.go', 'os.ReadFile("calc_test.go")', 'test-files 1'],
    ['src/a.go', 'os.Stdout = f', 'descriptors 1'],
    ['src/a.go', 'f := os.NewFile(3, "x")', 'descriptors 1'],
    ['src/a.go', 'os.ReadFile("/proc/self/fd/3")', 'descriptors 1'],
    ['src/a.go', 'exec.Command("go", "x").Run()', 'dynamic-code 1'],
    ['src/a.rs', 'std::process::exit(0);', 'exit 1'],
    ['src/a.rs', 'use std::process::{self, abort};', 'exit 1'],
    ['src/a.rs', '*x = 1;\nstd::process::exit(0);', 'exit 2'],
    ['src/a.rs', 'macro_rules! assert_eq { ($($x:tt)*) => {} }', 'assertion-library 1'],
    ['src/a.rs', 'std::panic::set_hook(Box::new(|_| {}));', 'assertion-library 1'],
    ['src/a.rs', 'impl PartialEq for Money {', 'comparison 1'],
    ['src/a.rs', 'impl<T: Copy> PartialEq<T> for Money<T> {', 'comparison 1'],
    ['src/a.rs', 'if cfg!(test) { return 3; }', 'test-detection 1'],
    ['src/a.rs', '#[cfg(not(test))]', 'test-detection 1'],
    ['src/a.rs', 'thread::current().name()', 'test-detection 1'],
    ['src/a.rs', 'unsafe { *p = 1; }', 'builtins 1'],
    ['src/a.rs', '#[no_mangle]', 'runner-internals 1'],
    ['src/a.rs', 'println!("test tests::adds ... ok");', 'runner-internals 1'],
    ['src/a.rs', 'File::from_raw_fd(3)', 'descriptors 1'],
    ['src/a.rs', 'Command::new("cargo")', 'dynamic-code 1'],
    ['src/a.rs', 'include!("other.txt");', 'dynamic-code 1'],
    ['src/A.java', 'import org.junit.jupiter.api.Assertions;', 'runner-internals 1'],
    ['src/A.java', 'System.exit(0);', 'exit 1'],
    ['src/A.java', 'Runtime.getRuntime().halt(0);', 'exit 1'],
    ['src/A.kt', 'exitProcess(0)', 'exit 1'],
    ['src/A.java', 'public boolean equals(Object other) { return true; }', 'comparison 1'],
    ['src/A.kt', 'override fun equals(other: Any?) = true', 'comparison 1'],
    ['src/A.java', 'field.setAccessible(true);', 'builtins 1'],
    ['src/A.java', 'new Throwable().getStackTrace()', 'test-detection 1'],
    ['src/A.java', 'System.setOut(new PrintStream(buffer));', 'descriptors 1'],
    ['src/A.java', 'Path.of("target/surefire-reports")', 'descriptors 1'],
    ['src/A.java', 'Class.forName(name)', 'dynamic-code 1'],
    ['src/A.java', 'throw new AssertionError();', 'assertion-library 1'],
  ])('%s: %s', (path, text, expected) => {
    expect(rules(adding(path, text))).toContain(expected);
  });

  it('code in a file without an extension, or with an unknown one', () => {
    expect(rules(adding('src/helper', 'process.exit(0)'))).toEqual(['exit 1']);
    expect(rules(adding('src/helper.foo', 'os._exit(0)'))).toEqual(['exit 1']);
  });

  it('changes that cannot be read: binary patches of code, compiled code, links', () => {
    const binary = (path: string): string =>
      `diff --git a/${path} b/${path}\nindex 1111111..2222222 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n`;
    expect(rules(binary('src/a.js'))).toEqual(['unreadable -']);
    expect(rules(binary('src/a.pyc'))).toEqual(['unreadable -']);
    expect(rules(binary('src/a.png'))).toEqual([]);
    expect(rules(adding('src/a.js', 'notes.txt', '120000'))).toContain('unreadable -');
  });

  it('configuration that gives names another meaning', () => {
    expect(rules(adding('tsconfig.json', '{}'))).toEqual(['configuration -']);
  });

  it('names the line of the new file, behind context and removed lines', () => {
    const patch = `diff --git a/a.js b/a.js
--- a/a.js
+++ b/a.js
@@ -10,3 +10,4 @@
 one
-two
+let two
+process.exit(1)
 three
`;
    expect(rules(patch)).toEqual(['exit 12']);
  });
});

describe('flags leave ordinary code alone', () => {
  it.each([
    [
      'a comment',
      'src/a.js',
      '// process.exit(0)\n/* require("assert") */\n/**\n * See test/a.test.js, process.argv.\n */\nlet a;',
    ],
    ['a plain fix', 'src/a.js', "const { b } = require('./b.js');\nreturn Math.max(a, b) * 2;"],
    [
      'dynamic import of a plain name',
      'src/a.mjs',
      "const { a } = await import('./a.js');\nimport data from './data.json';",
    ],
    [
      'words that runners use too',
      'src/a.js',
      "pattern.test('a', b);\nfunction before(date) {\n  return it.before(date);\n}\nconst tap = tape(after(date));\nlog('not ok');",
    ],
    ['output', 'src/a.js', 'process.stdout.write(line + "\\n");\nprocess.env.HOME;'],
    ['a Python comment', 'a.py', '# os._exit(0), see tests/test_a.py\nx = 1'],
    [
      'a plain Python fix',
      'a.py',
      'import sys\nfrom os import path\nfrom types import SimpleNamespace\nself.key = lambda x: x\nreturn os.environ.get("HOME"), latest / 2',
    ],
    ['words that hold others', 'a.py', 'contest = "latest/attests"\nrequest.fd = openfd(3)'],
    [
      'a plain Go fix',
      'a.go',
      '// os.Exit(0), see a_test.go\nimport (\n\t"errors"\n\t"fmt"\n)\n\nfunc Add(a, b int) (int, error) {\n\tif a < 0 {\n\t\treturn 0, errors.New("a is negative")\n\t}\n\tfmt.Println(len(xs), reflect.ValueOf(a))\n\tdefer close(ch)\n\treturn a + b, nil\n}',
    ],
    [
      'a plain Rust fix',
      'a.rs',
      '/// Ends: std::process::exit(0).\nuse std::collections::HashMap;\n#[derive(Debug, PartialEq, Eq)]\npub struct A;\nimpl A {\n    pub fn eq_len(&self, xs: &[i32]) -> Result<usize, String> {\n        xs.get(0).map(|x| *x as usize).ok_or_else(|| "none".to_string())\n    }\n}\nimpl Iterator for A {',
    ],
    [
      'a plain Java fix',
      'A.java',
      '/**\n * Calls System.exit(0).\n */\nimport java.util.List;\npublic int add(Integer a, String b) {\n  if (a.equals(b)) throw new IllegalArgumentException("a");\n  return Integer.valueOf(b) + Objects.hash(a, b) + list.compareTo(x);\n}',
    ],
    [
      'a plain Kotlin fix',
      'A.kt',
      'val total = items.sumOf { it.price }\nreturn requireNotNull(total) { "no total" }.toString()',
    ],
    ['prose', 'README.md', 'Run process.exit(0) in test/a.test.js'],
  ])('%s', (_, path, text) => {
    expect(rules(adding(path, text))).toEqual([]);
  });
});

it('a long patch of odd lines takes no time', () => {
  const text = '{ a ( " from os import ( '.repeat(4_000);
  const began = performance.now();
  const files = ['src/a.js', 'a.py', 'a.go', 'a.rs', 'A.java'];
  const odd = `${text}${'impl<"unsafe { use '.repeat(4_000)}`;
  flagPatch(files.map((path) => adding(path, odd)).join(''), new Set());
  expect(performance.now() - began).toBeLessThan(3_000);
});
