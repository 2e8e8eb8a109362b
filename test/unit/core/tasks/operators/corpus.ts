import { readFileSync } from 'node:fs';
import {
  type Edit,
  type Language,
  languageOf,
} from '../../../../../src/core/tasks/operators/edit.ts';

export interface SourceFile {
  readonly name: string;
  readonly text: string;
  readonly language: Language;
}

const here = (path: string) => new URL(`../../../../../${path}`, import.meta.url).pathname;

/** Real sources at hand: published packages, this repository, and two samples of every construct. */
export function corpus(): readonly SourceFile[] {
  const paths = [
    here('node_modules/commander/lib/help.js'),
    here('node_modules/commander/lib/option.js'),
    here('node_modules/commander/lib/suggestSimilar.js'),
    here('node_modules/env-paths/index.js'),
    here('src/core/agent/outcomes.ts'),
    here('src/core/tasks/operators/families/statements.ts'),
    here('src/core/policies/policy.ts'),
  ];
  const files = paths.map((path) => read(path));
  return [
    ...files,
    { name: 'sample.py', text: PYTHON, language: 'python' },
    { name: 'sample.tsx', text: TSX, language: 'tsx' },
    { name: 'sample.rs', text: RUST, language: 'rust' },
    { name: 'sample.go', text: GO, language: 'go' },
  ];
}

export function read(path: string): SourceFile {
  const language = languageOf(path);
  if (language === undefined) throw new Error(`no operators for ${path}`);
  return { name: path.split('/').slice(-2).join('/'), text: readFileSync(path, 'utf8'), language };
}

/** Every n-th edit, about `count` of them. */
export function sample(edits: readonly Edit[], count: number): readonly Edit[] {
  const step = Math.max(1, Math.floor(edits.length / count));
  return edits.filter((_, index) => index % step === 0);
}

const PYTHON = `"""Sample with the syntax of Python 3.11."""
from __future__ import annotations
import math as m
from dataclasses import dataclass, field


@dataclass(order=True)
class Account:
    owner: str
    balance: float = 0.0
    limit = 100

    def withdraw(self, amount: float, fee: int = 1, *, force: bool = False) -> float:
        """Takes money."""
        total = amount + fee
        if not force and total > self.balance + self.limit:
            raise ValueError(f"only {self.balance:>{10}.2f} left")
        elif amount <= 0:
            return -1
        else:
            self.balance -= total
        return self.balance


def median(values, key=None, seen=[]):
    ordered = sorted(values, key=key or (lambda v: v))
    n = len(ordered)
    middle = n // 2
    if n % 2 == 0:
        return (ordered[middle - 1] + ordered[middle]) / 2
    seen.append(n)
    return ordered[middle]


def windows(items, size):
    out = []
    for i in range(len(items) - size + 1):
        part = items[i:i + size]
        if part in out or part is None:
            continue
        out.append(part)
        last = part
    return out[:-1] if not size else [x for x in out if x and len(x) >= size]


async def fetch_all(client, urls, retries=3):
    results = {}
    async for url in urls:
        while retries > 0:
            try:
                results[url] = await client.get(url, timeout=10)
                break
            except (OSError, ValueError) as group:
                retries -= 1
        else:
            results[url] = None
    async with client.lock() as held:
        await client.close()
    return results


def command(text):
    match text.split(" ", 1):
        case ["go", direction] if direction != "up":
            return direction.lower().strip()
        case {"kind": str(kind), **rest}:
            return kind, rest
        case [x, *others] | (x, others):
            return others[0]
        case _:
            pass
    if (size := len(text)) > 10 and size < 20:
        print(*text, sep=", ", end="")
    a, b = 1, 2
    return a ** -b if a is not b else a - b - (a + b) * 2
`;

const TSX = `import { useState } from 'react';
type Row = { id: number; tags?: string[] };
enum Level { Low = 1, High = 2 }
interface Props<T extends object> { rows: readonly T[]; pick: (row: T) => number }

export function Table<T extends Row>({ rows, pick }: Props<T>, offset = 1) {
  const [page, setPage] = useState<number>(0);
  const visible = rows.slice(page * 10, (page + 1) * 10).filter((row) => row.tags?.includes('x') ?? false);
  let sum = 0;
  for (let i = 0; i < rows.length - 1; i++) {
    const row = rows[i] as T;
    if (!row || row.id === offset) continue;
    sum += pick(row) * Level.High;
    last = row;
  }
  return (
    <ul className="list" onClick={() => setPage(page - 1)}>
      {visible.length > 0 && visible.map((row) => <li key={row.id}>{row.tags!.join(', ')}</li>)}
      <>{sum % 2 === 0 ? 'even' : 'odd'}</>
    </ul>
  );
}

abstract class Store<K, V = unknown> {
  #map = new Map<K, V>();
  private static count = 0;
  constructor(readonly limit: number, private name?: string) { Store.count += 1; }
  get size(): number { return this.#map.size; }
  async load(key: K, make: () => Promise<V>): Promise<V | undefined> {
    if (this.#map.has(key)) return this.#map.get(key);
    const value = await make();
    this.#map.set(key, value);
    return value satisfies V;
  }
  sorted(values: number[]): number[] {
    values.sort((a, b) => a - b);
    label: for (const v of values) { if (v < 0) break label; }
    return values.reverse() as number[];
  }
}
`;

const RUST = `//! Sample with the syntax of Rust 2021.
use std::collections::{BTreeMap, HashMap as Map};
use std::fmt::{self, Display};

pub const LIMIT: usize = 10;
static NAMES: [&str; 2] = ["low, high", ""];

#[derive(Debug, Clone, PartialEq)]
pub struct Account<'a, T: Display> {
    owner: &'a str,
    pub balance: f64,
    tag: Option<T>,
    counts: Vec<u32>,
}

pub enum Level { Low = 1, High(u8), Named { size: usize } }

impl<'a, T: Display + 'a> Account<'a, T> {
    pub fn new(owner: &'a str, tag: Option<T>) -> Self {
        Self { owner, balance: 0.0, tag, counts: vec![0; LIMIT] }
    }

    /// Takes money.
    pub fn withdraw(&mut self, amount: f64, fee: f64) -> Result<f64, String> {
        let total = amount + fee * 2.0;
        if amount <= 0.0 || total > self.balance {
            return Err(format!("only {} left, {owner}", self.balance, owner = self.owner));
        } else if !self.counts.is_empty() && fee < amount {
            self.counts[0] += 1;
        }
        self.balance -= total;
        Ok(self.balance)
    }
}

pub fn windows(items: &[i64], size: usize) -> Vec<i64> {
    let mut out: Vec<i64> = Vec::new();
    let mut seen = 0u32;
    for i in 0..items.len() - size + 1 {
        let part = &items[i..i + size];
        if part.iter().any(|x| *x < 0) {
            continue;
        }
        out.push(part.iter().sum());
        seen += 1;
    }
    'outer: loop {
        for (index, value) in out.iter_mut().enumerate() {
            if index as i64 == *value { break 'outer; }
            *value = (*value - 1) * 2 + items[0].max(3).pow(2);
        }
        if seen == 7 { break; }
    }
    for step in 1..=size {
        seen = seen.saturating_sub(step as u32);
    }
    while let Some(last) = out.pop() {
        match last {
            0 | 1 => return out,
            n @ 2..=9 if n % 2 == 0 => out.push(n / 2),
            -1 => {}
            _ => break,
        }
    }
    let Some(first) = out.first() else { return vec![] };
    let kind = if *first > 0 { Level::High(1) } else { Level::Low };
    println!("{} {:?}", first, seen + 1);
    out
}

async fn load(client: &Client, url: &str) -> Result<Map<String, u8>, fmt::Error> {
    let text = client.get(url, true).await?;
    let mut result = Map::<String, u8>::new();
    text.lines().filter(|line| line.starts_with("a") && line.len() > 1).for_each(|line| {
        result.insert(line.trim_start().to_string(), line.len() as u8 & 0xf);
    });
    unsafe { touch(result.len(), 1 << 3) };
    Ok(result)
}

macro_rules! twice { ($x:expr) => { $x + $x }; }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        assert_eq!(windows(&[1, 2, 3], 2), vec![3, 5]);
        if 1 < 2 { panic!("no"); }
    }
}
`;

const GO = `// Package shop is a sample with the syntax of Go 1.23.
package shop

import (
	"errors"
	"fmt" // prints, formats
	str "strings"
)

const (
	Low, High = iota, 1 << 3
	name      = "a, b" + \`raw
string\`
)

/* a comment
   over lines */
var ErrEmpty = errors.New("nothing there")

type Number interface{ ~int | ~float64 }

type Account[T Number] struct {
	Owner   string \`json:"owner, omitempty"\`
	balance T
	tags    map[string][]byte
	done    chan<- bool
}

func New[T Number](owner string, balance T) *Account[T] {
	return &Account[T]{Owner: owner, balance: balance, tags: map[string][]byte{"x": {1, 2}}}
}

// Withdraw takes money.
func (a *Account[T]) Withdraw(amount, fee T) (left T, err error) {
	total := amount + fee*2
	if amount <= 0 || total > a.balance {
		return 0, fmt.Errorf("only %v left, %s", a.balance, a.Owner)
	} else if ok := len(a.tags) > 0 && fee < amount; ok {
		a.tags["y"] = append(a.tags["y"], 'z', '\\n')
	}
	a.balance -= total
	defer func() { recover() }()
	return a.balance, nil
}

func Windows(items []int, size int) (out [][]int) {
	seen := 0
outer:
	for i := 0; i < len(items)-size+1; i++ {
		part := items[i : i+size]
		for index, value := range part {
			if value < 0 {
				continue outer
			}
			if index == 7 && !contains(part, -value) {
				break
			}
		}
		out = append(out, part)
		seen++
	}
	for range 3 {
		seen--
	}
	for seen > 0 {
		seen = seen &^ 1 >> 1
	}
	for key := range map[string]int{} {
		_ = str.ToUpper(key[1:])
	}
	for {
		break
	}
	empty := out == nil
	switch {
	case empty, seen%2 == 0:
		fallthrough
	default:
		seen = -seen + 1
	}
	return
}

func contains(list []int, wanted int) bool {
	for _, item := range list {
		if item == wanted {
			return true
		}
	}
	return false
}

func kind(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case int, *Account[int]:
		return fmt.Sprint(v)
	case func(int) bool:
		return "function"
	}
	text, ok := value.(string)
	if !ok {
		return "other"
	}
	return text
}

func wait(in <-chan int, out chan int) {
	go func(limit float64) {
		for n := range in {
			if float64(n) > limit*1.5e3 || n == 0x_ff {
				out <- n
			}
		}
	}(2.5)
	select {
	case n, ok := <-in:
		fmt.Println(n, ok)
	case out <- 1:
	default:
	}
	var p *int
	*p = (3 + 4) * <-in
	goto end
end:
	fmt.Println("end")
}
`;
