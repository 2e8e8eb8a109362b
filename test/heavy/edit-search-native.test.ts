import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildCli, createWorld, type Files } from '../integration/cli/world.ts';

/** `edit-search` on projects of compiled languages, with their real tool chains. */

let cli: Awaited<ReturnType<typeof buildCli>>;
beforeAll(async () => {
  cli = await buildCli();
});
afterAll(() => cli.remove());

async function fixed(files: Files, env: NodeJS.ProcessEnv = {}) {
  const { run } = await createWorld(cli.program, files);
  const args = ['fix', '--attempts', '1', '--no-parity', '--json'];
  const { code, stdout, stderr } = await run(args, { env });
  expect(stdout, stderr).not.toBe('');
  return { code, report: JSON.parse(stdout) };
}

test('Rust: a bug beside its inline test, and one in a module that an integration test uses', async () => {
  const { CARGO_HOME, RUSTUP_HOME, HOME } = process.env;
  const { code, report } = await fixed(
    {
      'Cargo.toml': '[package]\nname = "shelf"\nversion = "0.1.0"\nedition = "2021"\n',
      '.gitignore': 'target\nCargo.lock\n',
      'src/lib.rs': `pub mod stock;

pub fn sum(limit: u32) -> u32 {
    let mut total = 0;
    for number in 1..limit {
        total += number;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_part_of_the_sum() {
        assert_eq!(sum(4), 10);
    }
}
`,
      'src/stock.rs': `pub fn must_reorder(left: u32, least: u32) -> bool {
    left < least
}
`,
      'tests/stock.rs': `use shelf::stock::must_reorder;

#[test]
fn reorders_at_the_least() {
    assert!(must_reorder(3, 3));
    assert!(!must_reorder(4, 3));
}
`,
    },
    {
      CARGO_HOME: CARGO_HOME ?? `${HOME}/.cargo`,
      RUSTUP_HOME: RUSTUP_HOME ?? `${HOME}/.rustup`,
    },
  );
  expect(report).toMatchObject({
    outcome: 'solved',
    solved: [
      expect.stringContaining('the_limit_is_part_of_the_sum'),
      expect.stringContaining('reorders_at_the_least'),
    ],
  });
  expect(report.patch).toContain('+    for number in 1..=limit {');
  expect(report.patch).toContain('+    left <= least');
  expect(code).toBe(0);
}, 600_000);

test('Go: a bug in the package of the test, and one in a package that it imports', async () => {
  const { code, report } = await fixed({
    'go.mod': 'module example.com/shelf\n\ngo 1.21\n',
    'shelf.go': `package shelf

import "example.com/shelf/internal/stock"

// Sum adds the numbers up to the limit.
func Sum(limit int) int {
	total := 0
	for number := 1; number < limit; number++ {
		total += number
	}
	return total
}

func Reorder(left, least int) bool {
	enough := stock.Enough(left, least)
	return !enough
}
`,
    'internal/stock/stock.go': `package stock

func Enough(left, least int) bool {
	if left >= least {
		return true
	}
	return false
}
`,
    'shelf_test.go': `package shelf

import "testing"

func TestTheLimitIsPartOfTheSum(t *testing.T) {
	if got := Sum(4); got != 10 {
		t.Fatalf("got %d", got)
	}
}

func TestReordersAtTheLeast(t *testing.T) {
	if !Reorder(3, 3) || Reorder(4, 3) {
		t.Fatal("wrong")
	}
}
`,
  });
  expect(report).toMatchObject({
    outcome: 'solved',
    solved: ['shelf_test.go::TestTheLimitIsPartOfTheSum', 'shelf_test.go::TestReordersAtTheLeast'],
  });
  expect(report.patch).toContain('number <= limit');
  expect(report.patch).toContain('+	if left > least {');
  expect(code).toBe(0);
}, 600_000);
