import { describe, expect, it } from 'vitest';
import {
  readTranscriptUri,
  transcriptUri,
} from '../../../../src/editor/transcript/transcript-uri.ts';
import { createFakeVs } from '../../../support/fake-vs.ts';

const { vs } = createFakeVs();
const ROOT = '/data/trajectories';
const FOLDER = '0123456789abcdef';
const path = `${ROOT}/${FOLDER}/20261201T172240Z-3f9c1b2a.jsonl`;

describe('the address of a transcript', () => {
  it.each([false, true])('leads back to its record (whole: %s)', (whole) => {
    const uri = transcriptUri(vs, ROOT, { path, whole }, 'Transcript of a/b: "c"?\n#d');
    expect(uri?.path.split('/').at(-1)).toBe('Transcript of a b c d.md');
    expect(uri && readTranscriptUri(ROOT, vs.Uri.parse(uri.toString()))).toEqual({ path, whole });
  });

  it.each([
    '/etc/passwd',
    `${ROOT}/x.jsonl`,
    `${ROOT}/${FOLDER}/../x.jsonl`,
    `${ROOT}/${FOLDER}/a.pin`,
    `${ROOT}/${FOLDER}/.a.jsonl`,
    '',
  ])('is not made for %j', (other) => {
    expect(transcriptUri(vs, ROOT, { path: other, whole: false }, 'x')).toBeUndefined();
  });

  it.each([
    'file:///data/trajectories/0123456789abcdef/a/x.md',
    'prime-agent-transcript:/../../etc/passwd',
    'prime-agent-transcript:/0123456789abcdef/..%2f..%2fsecret/x.md',
    'prime-agent-transcript:/0123456789abcdef/x.md',
  ])('%s leads nowhere', (text) => {
    expect(readTranscriptUri(ROOT, vs.Uri.parse(text))).toBeUndefined();
  });
});
