import { attemptTimes } from './attempts.ts';
import { nanoDecode } from './nano-decode.ts';
import { snapshotTimes } from './snapshot.ts';
import { turnOverhead } from './turn-overhead.ts';

// `npm run bench`: figures against peers in the same run. Nothing in `npm test` depends on time.
const peer = process.env.PRIME_AGENT_BENCH_PYTHON;
process.stdout.write(`
Milliseconds per turn, median and range of 5 rounds of 200 turns

| command | prime-agent (local) | mini-swe-agent (bubblewrap) | ratio |
|---|---|---|---|
${await turnOverhead(peer)}

Snapshot of 10,000 files with 50,000 dependency files, milliseconds

| step | median (range) |
|---|---|
${await snapshotTimes()}

Listing 10,000 recorded attempts as the editor's view does it, milliseconds of one core

| step | median (range) |
|---|---|
${await attemptTimes()}

Tokens per second of the embedded policy (1.7M parameters, random weights), one thread, median of 5 rounds

| batch | prime-agent | transformers.js | ratio |
|---|---|---|---|
${await nanoDecode(process.env.PRIME_AGENT_BENCH_LEARNER)}
`);
