import { describeForgedLines } from './describe-forged-lines.ts';

// The other frameworks are in test/heavy.
describeForgedLines(['mocha', 'unittest']);
