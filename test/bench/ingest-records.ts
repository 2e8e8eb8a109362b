import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { UploadBegin } from '../../src/core/protocol/client-messages.ts';
import type { Trajectory } from '../../src/core/trajectories/trajectory.ts';
import { end, header, turn } from '../unit/core/trajectories/make.ts';

/** A record of about so many characters, of text that packs badly. */
export function padded(attemptId: string, characters: number): Trajectory {
  let text = '';
  for (let count = 0; text.length < characters; count++) {
    text += createHash('sha512').update(`${attemptId} ${count}`).digest('base64');
  }
  const first = turn(0);
  return {
    header: header({ attemptId }),
    turns: [{ ...first, reply: { ...first.reply, content: text } }],
    end: end(),
    cut: false,
  };
}

export function packed(
  text: string,
  attemptId: string,
): { readonly begin: UploadBegin; readonly bytes: Buffer } {
  const content = Buffer.from(text);
  const bytes = gzipSync(content, { level: 1 });
  const begin: UploadBegin = {
    type: 'upload.begin',
    upload: sha256(bytes),
    bytes: bytes.length,
    encoding: 'gzip',
    contentSha256: sha256(content),
    contentBytes: content.length,
    attemptId,
  };
  return { begin, bytes };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
