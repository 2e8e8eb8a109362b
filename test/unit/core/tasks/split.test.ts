import { describe, expect, it } from 'vitest';
import { overlapReport, renderOverlap } from '../../../../src/core/tasks/overlap.ts';
import { groupOf, operatorKind, splitTasks } from '../../../../src/core/tasks/split.ts';
import type { Task } from '../../../../src/core/tasks/task.ts';
import { makeTask, TREE, TREES } from './make.ts';

const FAMILIES = ['range', 'clamp', 'slug', 'queue', 'roman', 'matrix', 'money', 'dates'];
const OPERATORS = ['compare-boundary', 'offset-add', 'offset-remove', 'function-pair', 'sign-add'];

const tasks = FAMILIES.flatMap((family) =>
  OPERATORS.flatMap((operator) =>
    [0, 1, 2].map((index) =>
      makeTask({ family, operator, shape: `${family} ${operator} ${index}` }),
    ),
  ),
);

const part = (split: ReturnType<typeof splitTasks>, name: string): readonly Task[] =>
  tasks.filter((task) => split.parts.get(task.id) === name);

describe('the split', () => {
  it('shares neither family, nor operator kind, nor tree between training and held-out', () => {
    for (let seed = 0; seed < 40; seed++) {
      const split = splitTasks(tasks, { seed });
      const [train, heldOut] = [part(split, 'train'), part(split, 'held-out')];
      expect(train.length).toBeGreaterThan(0);
      expect(heldOut.length).toBeGreaterThan(0);
      for (const pick of [
        groupOf,
        (task: Task) => operatorKind(task.bug.operator),
        (task: Task) => task.shapes.bug,
        (task: Task) => task.shapes.original,
      ]) {
        const known = new Set(train.map(pick));
        expect(heldOut.filter((task) => known.has(pick(task)))).toEqual([]);
      }
      expect(overlapReport(tasks, TREES, split).shared).toEqual({
        families: 0,
        operators: 0,
        shapes: 0,
      });
      const inParts = ['train', 'held-out', 'new-family', 'new-operator'].flatMap((name) =>
        part(split, name),
      );
      expect(inParts.length + split.duplicates.length).toBe(tasks.length);
    }
  });

  it('takes an operator and its inverse as one kind', () => {
    expect(operatorKind('offset-add')).toBe(operatorKind('offset-remove'));
    expect(operatorKind('offset-add')).not.toBe(operatorKind('sign-add'));
  });

  it('leaves out of training what is held out under another name', () => {
    const split = splitTasks(tasks, { seed: 1 });
    const [held] = part(split, 'held-out');
    const [trained] = part(split, 'train');
    if (held === undefined || trained === undefined) throw new Error('nothing in a part');
    const twin = makeTask({
      family: groupOf(trained),
      operator: trained.bug.operator,
      shape: held.shapes.bug,
    });
    const again = splitTasks([...tasks, twin], { seed: 1 });
    expect(again.parts.get(held.id)).toBe('held-out');
    expect(again.duplicates).toEqual([twin.id]);
    expect(overlapReport([...tasks, twin], TREES, again).duplicates).toBe(1);
  });

  it('is the same for the same seed in whatever order, and another for another seed', () => {
    const split = splitTasks(tasks, { seed: 5 });
    const reversed = splitTasks([...tasks].reverse(), { seed: 5 });
    expect(new Map([...reversed.parts].sort())).toEqual(new Map([...split.parts].sort()));
    const families = [1, 2, 3, 4].map((seed) => splitTasks(tasks, { seed }).heldOutFamilies.join());
    expect(new Set(families).size).toBeGreaterThan(1);
  });

  it('has a report that reads', () => {
    const report = overlapReport(tasks, TREES, splitTasks(tasks, { seed: 2 }));
    const text = renderOverlap(report);
    expect(text).toContain('0 families, 0 operators, 0 normalised trees');
    expect(text).toContain(`| train | ${report.counts.train} |`);
    // All have the same sources here.
    expect(report.nearest.highest).toBe(1);
    expect(TREE.size).toBe(2);
  });
});
