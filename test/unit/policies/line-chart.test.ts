import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineChart, ticks } from '../../../policies/make/line-chart.ts';

describe('ticks', () => {
  it('start at 0, end at or above the largest value, and are few', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (most) => {
        const found = ticks(most);
        expect(found[0]).toBe(0);
        expect(found.at(-1)).toBeGreaterThanOrEqual(most * (1 - 1e-5));
        expect(found.length).toBeGreaterThanOrEqual(2);
        expect(found.length).toBeLessThanOrEqual(8);
      }),
    );
  });

  it('are round numbers', () => {
    expect(ticks(47)).toEqual([0, 10, 20, 30, 40, 50]);
    expect(ticks(0.9)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticks(0)).toEqual([0, 1]);
  });
});

describe('a chart', () => {
  const chart = {
    title: 'Solved & checked',
    xLabel: 'minutes',
    yLabel: '%',
    series: [
      {
        name: 'grpo <1>',
        look: 0,
        points: [
          { x: 0, y: 0 },
          { x: 10, y: 40, low: 30, high: 50 },
        ],
      },
      {
        name: 'random',
        look: 1,
        points: [
          { x: 0, y: 10 },
          { x: 10, y: 10 },
        ],
      },
    ],
  };

  it('puts points where their values are', () => {
    const svg = lineChart(chart);
    expect(svg).toContain('points="64,312 696,100.8"');
    expect(svg).toContain('y1="153.6" y2="48"');
  });

  it('escapes what is written in it, and names each look once', () => {
    const svg = lineChart({ ...chart, series: [...chart.series, ...chart.series] });
    expect(svg).toContain('Solved &amp; checked');
    expect(svg.match(/grpo &lt;1&gt;<\/text>/g)).toHaveLength(1);
    expect(svg).not.toContain('<1>');
  });
});
