import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cargoTest } from '../../../src/core/frameworks/cargo-test/cargo-test.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import { gradedProject } from '../../integration/frameworks/grade-support.ts';
import {
  type Files,
  openProject,
  type Project,
  ran,
  resultOf,
  runHanging,
  statuses,
} from '../../integration/frameworks/support.ts';

const TIME = { timeoutMs: 300_000 };

const manifest = (name: string): string =>
  `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n`;

const shop: Files = {
  'Cargo.toml': manifest('shop'),
  'src/lib.rs': `pub mod parser;

/// Adds.
///
/// \`\`\`
/// assert_eq!(shop::add(1, 2), 3);
/// \`\`\`
pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn zero() {
        println!("test tests::adds ... ok");
        assert_eq!(add(0, 0), 0);
    }

    #[test]
    #[ignore = "later"]
    fn skipped() {}

    #[test]
    #[should_panic(expected = "no")]
    fn panics() {
        panic!("yes");
    }

    #[test]
    fn result() -> Result<(), String> {
        Err("went wrong".into())
    }
}
`,
  'src/parser.rs':
    'pub fn at(xs: &[i32], i: usize) -> i32 {\n    xs[i]\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn finds() {\n        super::at(&[1], 5);\n    }\n}\n',
  'tests/api.rs':
    '#[test]\nfn through_the_door() {\n    assert!(shop::add(1, 1) == 2, "one and one");\n}\n\n#[test]\nfn fine() {}\n',
};

describe('cargo test in a package', () => {
  let project: Project;
  beforeAll(async () => {
    project = await openProject(cargoTest, shop);
  });
  afterAll(async () => {
    await project?.close();
  });

  test('a run of everything reports each test once', async () => {
    const run = ran(await project.run([], TIME));
    expect(statuses(run.results)).toEqual({
      'src/lib.rs::tests::adds': 'failed',
      'src/lib.rs::tests::zero': 'passed',
      'src/lib.rs::tests::skipped': 'skipped',
      'src/lib.rs::tests::panics': 'failed',
      'src/lib.rs::tests::result': 'failed',
      'src/parser.rs::tests::finds': 'failed',
      'tests/api.rs::through_the_door': 'failed',
      'tests/api.rs::fine': 'passed',
      'src/lib.rs::doc add': 'failed',
    });
    expect(run.complete).toBe(true);
    expect(run.collectionErrors).toEqual([]);
    const failure = (id: string) => resultOf(run, id).failure;
    expect(failure('src/lib.rs::tests::adds')).toMatchObject({
      message: 'assertion `left == right` failed\n  left: -1\n right: 3',
      place: { file: 'src/lib.rs', line: 18 },
    });
    expect(failure('src/parser.rs::tests::finds')).toMatchObject({
      message: 'index out of bounds: the len is 1 but the index is 5',
      place: { file: 'src/parser.rs', line: 2 },
    });
    expect(failure('tests/api.rs::through_the_door')).toMatchObject({
      message: 'one and one',
      place: { file: 'tests/api.rs', line: 3 },
    });
    expect(failure('src/lib.rs::tests::panics')?.message).toBe(
      'yes\npanic did not contain expected string\n      panic message: "yes"\n expected substring: "no"',
    );
    expect(failure('src/lib.rs::tests::result')?.message).toBe('Error: "went wrong"');
    expect(failure('src/lib.rs::doc add')?.message).toContain('assertion `left == right` failed');
    expect(JSON.stringify(run.results)).not.toContain(project.root);
  });

  test.each([
    ['one test', 'src/lib.rs::tests::zero', 1],
    ['a test of an inner module', 'src/parser.rs::tests::finds', 1],
    ['a module of tests', 'src/lib.rs::tests', 5],
    ['a doc test', 'src/lib.rs::doc add', 1],
    ['a file', 'tests/api.rs', 2],
    ['a folder', 'src', 7],
  ])('choosing %s gives exactly that', async (_, id, count) => {
    const run = ran(await project.run([id], TIME));
    expect(run.results).toHaveLength(count);
    for (const result of run.results) expect(result.id.startsWith(id)).toBe(true);
  });

  test('listing compiles and names the tests', async () => {
    const run = ran(await project.run([], { ...TIME, listOnly: true }));
    expect(run.results.map(({ status }) => status)).toEqual(Array(9).fill('listed'));
    expect(run.results.map(({ id }) => id)).toContain('src/parser.rs::tests::finds');
  });

  test('a test that does not exist is said, and the others run', async () => {
    const ids = ['src/lib.rs::tests::nothing', 'src/lib.rs::tests::zero'];
    expect(renderTestRun(await project.run(ids, TIME), { tests: ids })).toBe(
      '1 passed\n\nNot found: src/lib.rs::tests::nothing',
    );
  });
});

const single: readonly (readonly [string, Files, readonly RegExp[]])[] = [
  [
    'a test that does not compile',
    {
      'src/lib.rs':
        'pub fn one() -> i32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        let x: i32 = "a";\n    }\n}\n',
    },
    [/ERROR src\/lib.rs\n {2}mismatched types\n {2}at src\/lib.rs:9/],
  ],
  [
    'process::exit in a test',
    {
      'src/lib.rs':
        '#[cfg(test)]\nmod tests {\n    #[test]\n    fn dies() {\n        std::process::exit(7);\n    }\n}\n',
    },
    [
      /FAIL src\/lib.rs::tests::dies\n {2}the test program ended before this test had a result \(exit status: 7\)/,
    ],
  ],
  [
    'a process that leaves with code 0',
    {
      'src/lib.rs':
        '#[cfg(test)]\nmod tests {\n    #[test]\n    fn leaves() {\n        std::process::exit(0);\n    }\n}\n',
    },
    [/FAIL src\/lib.rs::tests::leaves\n {2}the test program ended before this test had a result/],
  ],
  [
    'a crash in one program, while the others run',
    {
      'src/lib.rs': '',
      'tests/a.rs': '#[test]\nfn aborts() {\n    std::process::abort();\n}\n',
      'tests/b.rs': '#[test]\nfn fine() {}\n',
    },
    [/1 failed, 1 passed/, /FAIL tests\/a.rs::aborts\n.*SIGABRT/],
  ],
  [
    'a package that is not installed',
    {
      'Cargo.toml': `${manifest('a')}\n[dependencies]\nno-such-package-at-all = "1"\n`,
      'src/lib.rs': '',
    },
    [/The tests did not run: .*no-such-package-at-all|no matching package/],
  ],
  [
    'a workspace of packages',
    {
      'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\nresolver = "2"\n',
      'crates/one/Cargo.toml': manifest('one'),
      'crates/one/src/lib.rs':
        '/// ```\n/// assert_eq!(one::one(), 2);\n/// ```\npub fn one() -> i32 {\n    1\n}\n\npub fn at(xs: &[i32]) -> i32 {\n    xs[3]\n}\n',
      'crates/one/tests/api.rs': '#[test]\nfn at() {\n    one::at(&[]);\n}\n',
      'crates/two/Cargo.toml': manifest('two'),
      'crates/two/src/main.rs':
        'fn main() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn fine() {}\n}\n',
    },
    [
      /2 failed, 1 passed/,
      /FAIL crates\/one\/tests\/api.rs::at\n {2}index out of bounds.*\n {2}at crates\/one\/tests\/api.rs:3\n {2}in crates\/one\/src\/lib.rs:9 \(at\)/,
      /FAIL crates\/one\/src\/lib.rs::doc one\n/,
    ],
  ],
];

test.each(single)('%s', async (_, content, expected) => {
  const project = await openProject(cargoTest, { 'Cargo.toml': manifest('a'), ...content });
  try {
    const text = renderTestRun(await project.run([], TIME));
    for (const pattern of expected) expect(text).toMatch(pattern);
  } finally {
    await project.close();
  }
});

test('a hanging test is named after the time limit, earlier results are kept', async () => {
  const run = await runHanging(async (begun) => {
    const project = await openProject(cargoTest, {
      'Cargo.toml': manifest('a'),
      'src/lib.rs': `#[cfg(test)]\nmod tests {\n    #[test]\n    fn quick() {}\n\n    #[test]\n    fn hangs() {\n        std::fs::write("${begun}", "").unwrap();\n        loop {}\n    }\n}\n`,
    });
    // Compiled first, so that the limit is about the tests alone.
    await project.run(['src/lib.rs::tests::quick'], TIME);
    return project;
  }, 20_000);
  expect(run.kind).toBe('timeout');
  expect(statuses(run.kind === 'timeout' ? run.results : [])).toEqual({
    'src/lib.rs::tests::quick': 'passed',
    'src/lib.rs::tests::hangs': 'error',
  });
  expect(resultOf(run, 'src/lib.rs::tests::hangs').failure?.message).toBe(
    'this test had no result when the time was up',
  );
});

test('grading: tests inside of sources are put back, the fix beside them counts', async () => {
  const source =
    'pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn zero() {}\n}\n';
  const project = await gradedProject(cargoTest, {
    'Cargo.toml': manifest('a'),
    'src/lib.rs': source,
  });
  expect(project.baseline.canaryFiles).toEqual(['src/lib.rs']);
  const fixed = source.replace('a - b', 'a + b');
  expect(await project.grade({ 'src/lib.rs': fixed })).toMatchObject({
    verdict: 'passed',
    reverted: [],
    strict: { canaries: [] },
  });
  const weakened = source.replace('add(1, 2), 3', 'add(1, 2), -1');
  expect(await project.grade({ 'src/lib.rs': weakened })).toMatchObject({
    verdict: 'passed_with_test_changes',
    reverted: ['src/lib.rs (test settings)'],
  });
  const both = fixed.replace('fn zero() {}', 'fn zero() {\n        assert!(true);\n    }');
  expect(await project.grade({ 'src/lib.rs': both })).toMatchObject({ verdict: 'passed' });
  const leaves = source.replace('a - b', 'std::process::exit(a - a + b - b)');
  expect(await project.grade({ 'src/lib.rs': leaves })).toMatchObject({ verdict: 'failed' });
});
