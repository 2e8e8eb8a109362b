import { describe, expect, it } from 'vitest';
import {
  renderComparison,
  renderProgress,
  renderSummary,
} from '../../../src/cli/render/evaluation.ts';
import { createStyle } from '../../../src/cli/render/style.ts';
import { compare } from '../../../src/core/evaluation/compare.ts';
import { summarise } from '../../../src/core/evaluation/summary.ts';
import { captured } from '../cli/context.ts';
import { makeHeader, makeRecord } from './make.ts';

const { context } = captured();
const style = createStyle(context.stdout, {});
const tasks = Array.from({ length: 40 }, (_, at) => `t${at}`);

describe('what is printed', () => {
  it('of one evaluation', () => {
    const records = tasks.flatMap((name, at) => [
      at < 15
        ? makeRecord(name, 0, 'solved', { tries: 1 + (at % 5) })
        : makeRecord(name, 0, 'failed', { reason: `Still not passing: ${name}.` }),
      at % 3 === 0
        ? makeRecord(name, 1, 'solved', { tries: 2 })
        : makeRecord(name, 1, at === 38 ? 'invalid' : 'out_of_budget', { repeated: at === 38 }),
    ]);
    const header = makeHeader({ tasks, label: 'nano v1', tries: 5, settings: { attempts: 2 } });
    expect(renderSummary(summarise({ header, records }), style)).toMatchInlineSnapshot(`
      "nano v1: 79 attempts at 40 tasks, 5 tries each at most
        held-out 36.3 % (26.3 to 46.3) of 40 tasks, pass@2 61.5 %

        solved               share  95 % interval
        pass@1              36.3 %   26.3 to 46.3
        pass@2 of 39 tasks  61.5 %   45.9 to 75.1
        within 1 try         3.8 %     0.0 to 8.8
        within 2 tries      25.0 %   16.3 to 33.8
        within 3 tries      28.7 %   18.8 to 38.8
        within 5 tries      36.3 %   26.3 to 46.3

        per attempt: 4.0 turns, 2.2 tries, 3.0 test runs, 20.0 tokens, 1.5 s
        29 solved
        25 failed
          25 Still not passing
        25 out of budget
          25 all turns were used
        1 invalid
          1 all turns were used
        1 made a second time after a failure of the machine
        1 invalid both times: they count neither way
      "
    `);
  });

  it('of one without any attempt that counts', () => {
    const text = renderSummary(summarise({ header: makeHeader({ tasks }), records: [] }), style);
    expect(text).toMatchInlineSnapshot(`
      "tiny: 0 attempts at 0 tasks
        There is no attempt that counts.
        40 attempts not made yet
      "
    `);
  });

  it('of a comparison', () => {
    const made = (label: string, every: number) => ({
      header: makeHeader({ tasks, label }),
      records: tasks.map((name, at) =>
        makeRecord(name, 0, at % every === 0 ? 'solved' : 'failed', { tries: 1 + (at % 3) }),
      ),
    });
    expect(renderComparison(compare(made('old', 4), made('new', 2)), style)).toMatchInlineSnapshot(`
      "A old
      B new
        40 tasks, paired

        solved                A       B  B − A   95 % interval  B better / worse      p
        within 1 try     10.0 %  17.5 %   +7.5    0.0 to +17.5             3 / 0  0.250
        within 2 tries   17.5 %  32.5 %  +15.0   +5.0 to +27.5             6 / 0  0.031
        within 3 tries   25.0 %  50.0 %  +25.0  +12.5 to +40.0            10 / 0  0.002
        within 5 tries   25.0 %  50.0 %  +25.0  +12.5 to +40.0            10 / 0  0.002
        within 8 tries   25.0 %  50.0 %  +25.0  +12.5 to +40.0            10 / 0  0.002
        within 20 tries  25.0 %  50.0 %  +25.0  +12.5 to +40.0            10 / 0  0.002
        in all           25.0 %  50.0 %  +25.0  +12.5 to +40.0            10 / 0  0.002

        Differences in points, intervals from tasks drawn anew, p of sign flips.
      "
    `);
    const text = renderComparison(
      compare(made('old', 4), { ...made('new', 2), records: [] }),
      style,
    );
    expect(text).toContain('The two have no task in common: evaluate both on the same file.');
  });

  it('while it goes on', () => {
    expect(renderProgress({ done: 0, of: 8, solved: 0, invalid: 0 })).toBe('0 of 8 attempts');
    expect(renderProgress({ done: 5, of: 8, solved: 1, invalid: 1 })).toBe(
      '5 of 8 attempts, 25.0 % solved, 1 invalid',
    );
  });
});
