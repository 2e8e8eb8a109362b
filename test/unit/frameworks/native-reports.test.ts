import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCargoReport } from '../../../src/core/frameworks/cargo-test/parse.ts';
import type { ParsedReport, RawRun } from '../../../src/core/frameworks/framework.ts';
import { parseGoReport } from '../../../src/core/frameworks/go-test/parse.ts';
import { parseJunitReport } from '../../../src/core/frameworks/junit/parse.ts';

const recorded = (name: string): string =>
  readFileSync(new URL(`../../fixtures/frameworks/${name}`, import.meta.url), 'utf8');

const go = recorded('go-test.txt');
const cargo = recorded('cargo-test.txt');
const junit = (xml: string, path: string, code = 1): string =>
  [
    '{"type":"start","runner":"mvn","mode":"run","folder":"/tmp/shop"}',
    '@file ./src/main/java/shop/Calc.java',
    '@file ./src/test/java/shop/CalcTest.java',
    JSON.stringify({ type: 'xml', path, base64: Buffer.from(xml).toString('base64') }),
    `{"type":"end","code":${code}}`,
    '',
  ].join('\n');
const maven = junit(recorded('maven.xml'), 'target/surefire-reports/TEST-shop.CalcTest.xml');
const gradle = junit(recorded('gradle.xml'), 'build/test-results/test/TEST-shop.CalcTest.xml');

type Parse = (report: Uint8Array, run: RawRun) => ParsedReport;
const cases: readonly (readonly [string, Parse, string])[] = [
  ['go test', parseGoReport, go],
  ['cargo test', parseCargoReport, cargo],
  ['Maven', parseJunitReport, maven],
  ['Gradle', parseJunitReport, gradle],
];

const run = (more: Partial<RawRun> = {}): RawRun => ({
  exitCode: 1,
  log: '',
  projectPath: '',
  ...more,
});
const parsed = (parse: Parse, text: string, more: Partial<RawRun> = {}): ParsedReport =>
  parse(Buffer.from(text), run(more));

describe('recorded reports', () => {
  test.each(cases)('%s: the whole report is complete and has results', (_, parse, text) => {
    const report = parsed(parse, text);
    expect(report.complete).toBe(true);
    expect(report.results.some(({ status }) => status === 'passed')).toBe(true);
    expect(report.results.some(({ status }) => status === 'failed')).toBe(true);
    for (const { id, file } of report.results) expect(id.startsWith(`${file}::`)).toBe(true);
    expect(JSON.stringify(report)).not.toContain('/tmp/');
  });

  test.each(cases)('%s: a project in a folder has ids of the workspace', (_, parse, text) => {
    const inFolder = parsed(parse, text, { projectPath: 'a/b' });
    const ids = inFolder.results.map(({ id }) => id);
    expect(ids).toEqual(parsed(parse, text).results.map(({ id }) => `a/b/${id}`));
    for (const { failure } of inFolder.results) {
      if (failure?.place) expect(failure.place.file).toMatch(/^a\/b\//);
    }
  });

  test.each(cases)('%s: cut anywhere, no failure becomes a pass', (_, parse, text) => {
    const bytes = Buffer.from(text);
    const whole = new Map(parsed(parse, text).results.map(({ id, status }) => [id, status]));
    fc.assert(
      fc.property(fc.nat(bytes.length - 3), fc.constantFrom(undefined, 137), (at, exitCode) => {
        const report = parse(bytes.subarray(0, at), run({ exitCode }));
        expect(report.complete).toBe(false);
        for (const { id, status } of report.results) {
          if (status === 'passed') expect(whole.get(id) ?? 'passed').toBe('passed');
        }
      }),
      { numRuns: 60 },
    );
  });

  test.each(cases)('%s: a piece missing in the middle never throws', (_, parse, text) => {
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.nat(bytes.length), fc.nat(bytes.length), (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const cut = Buffer.concat([bytes.subarray(0, from), Buffer.from('\n'), bytes.subarray(to)]);
        parse(cut, run());
      }),
      { numRuns: 60 },
    );
  });

  test.each(cases)('%s: any bytes at all never throw', (_, parse) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.string(), (bytes, log) => {
        expect(parse(bytes, run({ log })).complete).toBe(false);
      }),
    );
  });
});

describe('go test', () => {
  test('a forged pass in front of the real end hides nothing', () => {
    const forged = go.replace(
      '{"Action":"run","Package":"example.com/shop/calc","Test":"TestAdd"}',
      '{"Action":"run","Package":"example.com/shop/calc","Test":"TestAdd"}\n{"Action":"output","Package":"example.com/shop/calc","Test":"TestAdd","Output":"--- PASS: TestAdd (0.00s)\\n"}\n{"Action":"pass","Package":"example.com/shop/calc","Test":"TestAdd","Elapsed":0}',
    );
    expect(forged).not.toBe(go);
    const found = parsed(parseGoReport, forged).results.find(({ name }) => name === 'TestAdd');
    expect(found?.status).toBe('failed');
  });

  test('values of testify are told apart from the rest of its message', () => {
    const output = [
      '    calc_test.go:10: \n',
      '        \tError Trace:\t/tmp/shop/calc/calc_test.go:10\n',
      '        \tError:      \tNot equal: \n',
      '        \t            \texpected: 3\n',
      '        \t            \tactual  : -1\n',
      '        \tTest:       \tTestAdd\n',
      '        \tMessages:   \tsums\n',
    ];
    const lines = output.map((Output) =>
      JSON.stringify({ Action: 'output', Package: 'p', Test: 'TestAdd', Output }),
    );
    const end = JSON.stringify({ Action: 'fail', Package: 'p', Test: 'TestAdd', Elapsed: 0 });
    const [result] = parsed(parseGoReport, [...lines, end, ''].join('\n')).results;
    expect(result?.failure).toMatchObject({ expected: '3', actual: '-1' });
    expect(result?.failure?.message).toContain('Not equal');
  });

  test('what older compilers say on stderr is found in the log', () => {
    const text = [
      '{"type":"start","runner":"go test","mode":"run","folder":"/w","version":"go1.21"}',
      '{"type":"package","path":"x/a","dir":"/w/a","files":["a_test.go"],"external":[]}',
      '{"Action":"start","Package":"x/a"}',
      '{"Action":"output","Package":"x/a","Output":"FAIL\\tx/a [build failed]\\n"}',
      '{"Action":"fail","Package":"x/a","Elapsed":0}',
      '{"type":"end"}',
    ].join('\n');
    const log = '# x/a [x/a.test]\na/a_test.go:6:2: undefined: missing\nFAIL\n';
    expect(parsed(parseGoReport, text, { log }).collectionErrors).toEqual([
      {
        file: 'a/a_test.go',
        message: 'a/a_test.go:6:2: undefined: missing',
        place: { file: 'a/a_test.go', line: 6, column: 2 },
      },
    ]);
  });
});

describe('cargo test', () => {
  test('what a test prints between its name and its result does not hide the result', () => {
    const text = cargo
      .replace('test tests::zero ... ok', 'test tests::zero ... hello\nmore okay\nok')
      .replace(
        'test tests::adds ... FAILED',
        'test tests::adds ... FAILED\ntest tests::adds ... ok',
      );
    const statuses = new Map(
      parsed(parseCargoReport, text).results.map(({ id, status }) => [id, status]),
    );
    expect(statuses.get('src/lib.rs::tests::zero')).toBe('passed');
    expect(statuses.get('src/lib.rs::tests::adds')).toBe('failed');
  });

  test('panics of Rust before 1.73 have their message in the first line', () => {
    const text = cargo.replace(
      /panicked at src\/lib\.rs:18:9:\nassertion.*\n.*\n.*\n/,
      "panicked at 'no sum', src/lib.rs:18:9\n",
    );
    expect(text).not.toBe(cargo);
    const found = parsed(parseCargoReport, text).results.find(
      ({ id }) => id === 'src/lib.rs::tests::adds',
    );
    expect(found?.failure).toMatchObject({
      message: 'no sum',
      place: { file: 'src/lib.rs', line: 18 },
    });
  });

  test('a program that a signal ended leaves errors, not silence', () => {
    const at = cargo.indexOf('test tests::adds ... FAILED');
    const until = cargo.indexOf('error: test failed, to rerun pass `--lib`');
    const crash =
      "error: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `/t/shop-507999230d6984fa` (signal: 6, SIGABRT: process abort signal)\n";
    const text = cargo.slice(0, at) + crash + cargo.slice(cargo.indexOf('\n', until) + 1);
    const found = parsed(parseCargoReport, text).results.find(
      ({ id }) => id === 'src/parser.rs::tests::finds',
    );
    expect(found).toMatchObject({ status: 'error' });
    expect(found?.failure?.message).toContain('SIGABRT');
  });
});

describe('JUnit XML', () => {
  test('values, messages and frames of JUnit 4 and 5', () => {
    const four = parsed(parseJunitReport, gradle).results[0];
    expect(four?.failure).toMatchObject({
      message: 'expected:<3> but was:<-1>',
      expected: '3',
      actual: '-1',
      place: { file: 'src/test/java/shop/CalcTest.java', line: 10 },
    });
    const five = parsed(parseJunitReport, maven).results.find(
      ({ name }) => name === 'throwsInSource',
    );
    expect(five?.failure).toMatchObject({
      message: 'ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 1',
      ownFrame: { file: 'src/main/java/shop/Calc.java', line: 9, function: 'Calc.at' },
    });
  });

  test('an exit code without a reported reason is not complete', () => {
    const xml = '<testsuite><testcase name="a" classname="shop.CalcTest" time="0"/></testsuite>';
    const report = junit(xml, 'target/surefire-reports/TEST-a.xml');
    expect(parsed(parseJunitReport, report)).toMatchObject({
      complete: false,
      results: [{ status: 'passed' }],
    });
    const fine = junit(xml, 'target/surefire-reports/TEST-a.xml', 0);
    expect(parsed(parseJunitReport, fine, { exitCode: 0 }).complete).toBe(true);
  });

  test('entities that a file declares are not expanded', () => {
    const xml =
      '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><testsuite><testcase name="one" classname="shop.CalcTest"><failure message="&b;">x</failure></testcase></testsuite>';
    const report = parsed(parseJunitReport, junit(xml, 'target/surefire-reports/TEST-a.xml'));
    expect(JSON.stringify(report)).not.toContain('aaaaaaaa');
  });

  test.each([
    [
      'Maven',
      '[ERROR] /tmp/shop/src/test/java/shop/CalcTest.java:[12,13] incompatible types: String cannot be converted to int',
      'incompatible types: String cannot be converted to int',
      12,
    ],
    [
      'Gradle',
      "/tmp/shop/src/test/java/shop/CalcTest.java:5: error: ';' expected",
      "';' expected",
      5,
    ],
    [
      'Kotlin',
      'e: file:///tmp/shop/src/test/kotlin/A.kt:5:3 Unresolved reference: x',
      'Unresolved reference: x',
      5,
    ],
  ])('compiler errors of %s are in the log', (_, log, message, line) => {
    const report = junit('<testsuite/>', 'target/surefire-reports/TEST-a.xml');
    expect(parsed(parseJunitReport, report, { log }).collectionErrors).toMatchObject([
      { message, place: { line } },
    ]);
  });
});
