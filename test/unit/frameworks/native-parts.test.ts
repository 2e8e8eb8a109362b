import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cargoFilter } from '../../../src/core/frameworks/cargo-test/cargo-test.ts';
import { restoreTests } from '../../../src/core/frameworks/cargo-test/inline-tests.ts';
import { docTest, locateTest } from '../../../src/core/frameworks/cargo-test/names.ts';
import { cargoSteering } from '../../../src/core/frameworks/cargo-test/steering.ts';
import type { Steering } from '../../../src/core/frameworks/framework.ts';
import { goSelection } from '../../../src/core/frameworks/go-test/go-test.ts';
import { goSteering } from '../../../src/core/frameworks/go-test/steering.ts';
import { plantJunitCanaries } from '../../../src/core/frameworks/junit/canaries.ts';
import {
  chosenTests,
  gradleArguments,
  mavenArguments,
} from '../../../src/core/frameworks/junit/selection.ts';
import { testsInSource } from '../../../src/core/frameworks/junit/sources.ts';
import { junitSteering } from '../../../src/core/frameworks/junit/steering.ts';
import { isChosen } from '../../../src/core/frameworks/select.ts';

describe('what the tools are told', () => {
  test.each([
    [[], { pattern: '', packages: ['./...'], files: [] }],
    [['a/b_test.go::TestX'], { pattern: '^TestX$', packages: ['./a'], files: [] }],
    [
      ['b_test.go::TestX/with_(x)/y', 'a/b_test.go'],
      { pattern: '^TestX$/^with_\\(x\\)$/^y$', packages: ['./.', './a'], files: ['a/b_test.go'] },
    ],
    [['a', 'b_test.go::TestX'], { pattern: '', packages: ['./a/...', './.'], files: [] }],
  ])('go test for %j', (ids, expected) => {
    expect(goSelection(ids)).toEqual(expected);
  });

  test('cargo test: names only where every test has one', () => {
    expect(cargoFilter(['src/a.rs::tests::x', 'tests/b.rs::y'])).toEqual(['tests::x', 'y']);
    expect(cargoFilter(['src/a.rs::tests::x', 'src/b.rs'])).toEqual([]);
    expect(cargoFilter(['src/lib.rs::doc add'])).toEqual([]);
  });

  test('Maven and Gradle: classes and methods', () => {
    const chosen = chosenTests([
      'one/src/test/java/shop/CartTest.java::adds',
      'src/test/java/shop/CartTest.java::Inner > each(int)[1]',
      'src/test/kotlin/shop/KTest.kt::adds two numbers',
      'src/test/java/shop/OtherTest.java',
    ]);
    expect(mavenArguments(chosen)).toEqual([
      '-Dtest=shop.CartTest#adds*,shop.CartTest$Inner#each*,shop.KTest*,shop.OtherTest*',
    ]);
    expect(gradleArguments(chosen)).toEqual([
      ...['--tests', 'shop.CartTest.adds*', '--tests', 'shop.CartTest$Inner.each*'],
      ...['--tests', 'shop.KTest*', '--tests', 'shop.OtherTest*'],
    ]);
    expect(chosenTests(['src/test'])).toEqual([]);
  });

  test.each([
    ['a_test.go::TestX/sub', 'a_test.go::TestX', true],
    ['a_test.go::TestXY', 'a_test.go::TestX', false],
    ['T.java::each(int)[1]', 'T.java::each', true],
    ['T.java::eachOne', 'T.java::each', false],
    ['a.js::adds (twice)', 'a.js::adds', false],
  ])('%s by %s: %s', (id, wanted, expected) => {
    expect(isChosen(id, wanted)).toBe(expected);
  });
});

describe('Rust: where a test is', () => {
  const files = new Set(['src/lib.rs', 'src/a.rs', 'src/a/b.rs', 'src/c/mod.rs', 'tests/api.rs']);
  test.each([
    ['src/lib.rs', 'tests::x', 'src/lib.rs::tests::x'],
    ['src/lib.rs', 'a::tests::x', 'src/a.rs::tests::x'],
    ['src/lib.rs', 'a::b::tests::x', 'src/a/b.rs::tests::x'],
    ['src/lib.rs', 'c::x', 'src/c/mod.rs::x'],
    ['tests/api.rs', 'x', 'tests/api.rs::x'],
  ])('%s %s', (root, name, id) => {
    expect(locateTest(root, name, files).id).toBe(id);
  });

  test('doc tests are named by their item, not by their line', () => {
    expect(docTest('src/lib.rs - a::add (line 5)')).toEqual({
      file: 'src/lib.rs',
      name: 'doc a::add',
      line: 5,
    });
    expect(docTest('src/lib.rs - (line 3) - compile fail')?.name).toBe('doc of the file');
    expect(docTest('tests::adds')).toBeUndefined();
  });
});

describe('Rust: test items of a source file', () => {
  const before =
    'pub fn one() -> i32 {\n    2\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(super::one(), 1);\n    }\n}\n';

  test('a fix of the source stays, byte by byte', () => {
    const after = before.replace('    2', '    1');
    expect(restoreTests(before, after)).toBe(after);
  });

  test('changed, new and removed tests are put back', () => {
    const fixed = before.replace('    2', '    1');
    const changed = fixed.replace('one(), 1', 'one(), 2');
    expect(restoreTests(before, changed)).toBe(fixed);
    const more = `${fixed}\n#[cfg(test)]\nfn helper() {}\n`;
    expect(restoreTests(before, more)).toBe(`${fixed}\n\n`);
    const gone = fixed.slice(0, fixed.indexOf('#[cfg(test)]'));
    expect(restoreTests(before, gone)).toContain('assert_eq!(super::one(), 1);');
    const hidden = fixed.replace('#[cfg(test)]', '#[cfg(any())]');
    expect(restoreTests(before, hidden)).toContain('#[cfg(test)]\nmod tests {');
  });

  test('braces and quotes in texts, characters and comments mislead nobody', () => {
    const odd =
      'fn a<\'a>(x: &\'a str) -> char { /* } /* { */ */ let _ = r#"}"#; \'}\' }\n#[test]\nfn b() { assert!("}".len() == 1); }\nfn c() {}\n';
    const after = odd.replace('== 1', '== 2');
    expect(restoreTests(odd, after)).toBe(odd);
  });

  test('never throws, and leaves what has no tests alone', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 200 }), (a, b) => {
        restoreTests(a, b);
        restoreTests(`#[test]\nfn a() {${a}}`, `#[test]\nfn a() {${b}}`);
      }),
    );
  });
});

describe('what steers', () => {
  test.each<readonly [string, Steering, string, boolean, boolean]>([
    ['go', goSteering, 'a/b_test.go', true, false],
    ['go', goSteering, 'a/testdata/x.txt', true, false],
    ['go', goSteering, 'a/b.go', false, false],
    ['go', goSteering, 'go.mod', false, true],
    ['go', goSteering, 'vendor/x/y.go', false, true],
    ['cargo', cargoSteering, 'tests/api.rs', true, false],
    ['cargo', cargoSteering, 'src/lib.rs', false, false],
    ['cargo', cargoSteering, 'src/latest.rs', false, false],
    ['cargo', cargoSteering, 'crates/a/Cargo.toml', false, true],
    ['cargo', cargoSteering, '.cargo/config.toml', false, true],
    ['cargo', cargoSteering, 'build.rs', false, true],
    ['junit', junitSteering, 'a/src/test/resources/x.json', true, false],
    ['junit', junitSteering, 'src/main/java/shop/Cart.java', false, false],
    ['junit', junitSteering, 'a/pom.xml', false, true],
    ['junit', junitSteering, 'src/main/resources/META-INF/services/org.junit.X', false, true],
    ['junit', junitSteering, 'src/main/java/org/junit/jupiter/api/Assertions.java', false, true],
    ['go', goSteering, 'a/export_test.go', true, false],
    ['go', goSteering, 'a/latest.go', false, false],
    ['go', goSteering, 'a/test.go', false, false],
    ['go', goSteering, 'internal/testutil/assert.go', false, true],
    ['go', goSteering, 'testhelpers/http.go', false, true],
    ['go', goSteering, 'contest/util.go', false, false],
    ['go', goSteering, 'go.work', false, true],
    ['go', goSteering, 'go.sum', false, true],
    ['go', goSteering, 'cmd/vendored/x.go', false, false],
    ['cargo', cargoSteering, 'crates/a/benches/b.rs', true, false],
    ['cargo', cargoSteering, 'crates/a/src/attests/mod.rs', false, false],
    ['cargo', cargoSteering, 'Cargo.lock', false, true],
    ['cargo', cargoSteering, 'rust-toolchain.toml', false, true],
    ['cargo', cargoSteering, 'crates/test-util/src/lib.rs', false, true],
    ['cargo', cargoSteering, 'src/build.rs', false, false],
    ['cargo', cargoSteering, 'crates/a/build.rs', false, true],
    ['junit', junitSteering, 'src/integrationTest/java/A.java', true, false],
    ['junit', junitSteering, 'src/integration-test/java/A.java', true, false],
    ['junit', junitSteering, 'src/testFixtures/java/Orders.java', true, false],
    ['junit', junitSteering, 'src/latest/java/A.java', false, false],
    ['junit', junitSteering, 'src/main/java/shop/test/Helper.java', false, false],
    ['junit', junitSteering, 'src/main/java/shop/gradle/Plugin.java', false, false],
    ['junit', junitSteering, 'src/main/java/shop/junit/Report.java', false, false],
    ['junit', junitSteering, 'src/main/java/junit/framework/Assert.java', false, true],
    ['junit', junitSteering, 'src/main/kotlin/kotlin/test/Assertions.kt', false, true],
    ['junit', junitSteering, 'src/main/resources/junit-platform.properties', false, true],
    ['junit', junitSteering, 'gradle/libs.versions.toml', false, true],
    ['junit', junitSteering, 'gradle/wrapper/gradle-wrapper.properties', false, true],
    ['junit', junitSteering, 'build-logic/src/main/kotlin/tests.gradle.kts', false, true],
    ['junit', junitSteering, 'scripts/tests.gradle', false, true],
    ['junit', junitSteering, 'app/gradle.properties', false, true],
    ['junit', junitSteering, '.mvn/jvm.config', false, true],
    ['junit', junitSteering, 'src/main/resources/application.properties', false, false],
  ])('%s %#', (_, steering, path, isTest, steers) => {
    expect([path, steering.isTestFile(path), steering.isSteeringFile(path)]).toEqual([
      ...[path, isTest, steers],
    ]);
  });
});

describe('JUnit: sources', () => {
  test('tests are found by annotation, in classes, not in comments and texts', () => {
    const source = `package shop;
class CartTest {
  // @Test void no() {}
  String text = "@Test void neither() {";
  @Test void adds() {}
  @ParameterizedTest(name = "{0}") @ValueSource(ints = {1, 2})
  public void each(int n) { if (n > 1) { } }
  @Nested class Inner {
    @org.junit.jupiter.api.Test
    void inside() throws Exception {}
  }
  void helper() {}
}
`;
    expect(testsInSource(source)).toEqual([
      { name: 'adds', line: 5 },
      { name: 'each', line: 7 },
      { name: 'Inner > inside', line: 10 },
    ]);
    expect(testsInSource('class A {\n  @Test\n  fun `adds two`() {}\n}\n')).toEqual([
      { name: 'adds two', line: 3 },
    ]);
  });

  test('planted tests go into the one class of the file, or nowhere', () => {
    const source =
      'import org.junit.Test;\n\npublic class ATest {\n  @Test public void a() {}\n}\n';
    const planted = plantJunitCanaries('src/test/java/ATest.java', source, 'x1');
    expect(planted?.source.trimEnd().endsWith('}')).toBe(true);
    expect(planted?.mustFail).toContain('src/test/java/ATest.java::prime_x1_b');
    expect(plantJunitCanaries('BTest.java', source, 'x1')).toBeUndefined();
    expect(plantJunitCanaries('ATest.java', `${source}class B {}\n`, 'x1')).toBeUndefined();
    expect(plantJunitCanaries('ATest.java', 'class ATest {}', 'x1')).toBeUndefined();
  });
});
