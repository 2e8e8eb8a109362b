import { SaxesParser } from 'saxes';

/** A `<testcase>` as Surefire and Gradle write it. */
export interface XmlTestCase {
  readonly name: string;
  readonly className: string;
  readonly seconds: number;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Attributes and text of the `<failure>` or `<error>`. */
  readonly problem?: { readonly type: string; readonly message: string; readonly text: string };
}

type Open = { -readonly [K in keyof XmlTestCase]: XmlTestCase[K] };

/**
 * Reads the test cases of one file, as far as it can be read: what stands in front of a mistake or a
 * cut counts. Entities that a file declares are never expanded.
 */
export function readTestCases(xml: string): readonly XmlTestCase[] {
  const cases: XmlTestCase[] = [];
  let open: Open | undefined;
  let problem: { type: string; message: string; text: string } | undefined;
  let broken = false;
  const parser = new SaxesParser();
  parser.on('error', () => {
    broken = true;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (broken) return;
    const value = (key: string): string => attributes[key] ?? '';
    switch (name) {
      case 'testcase':
        open = {
          name: value('name'),
          className: value('classname'),
          seconds: Math.max(0, Number(value('time').replaceAll(',', '')) || 0),
          outcome: 'passed',
        };
        break;
      case 'skipped':
        if (open?.outcome === 'passed') open.outcome = 'skipped';
        break;
      case 'failure':
      case 'error':
        problem = { type: value('type'), message: value('message'), text: '' };
        break;
    }
  });
  const text = (more: string): void => {
    if (problem && !broken) problem.text += more;
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', ({ name }) => {
    if (broken) return;
    if ((name === 'failure' || name === 'error') && open && problem) {
      open.outcome = 'failed';
      open.problem ??= problem;
      problem = undefined;
    } else if (name === 'testcase' && open) {
      cases.push(open);
      open = undefined;
    }
  });
  parser.write(xml).close();
  return cases;
}
