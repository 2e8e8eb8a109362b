import { ingestTimes } from './ingest.ts';
import { millionTimes } from './million.ts';

// `npm run bench -- server`: the training server alone.
const programs = new URL('.', import.meta.url).pathname;
process.stdout.write(`
1,000 trajectories of 200 kB from 8 clients: acknowledgement in milliseconds after the last byte (the peer: after the request began)

| server | stored | p50 | p99 | seconds in all | peak MB |
|---|---|---|---|---|---|
${await ingestTimes(programs)}
`);
process.stdout.write(`
A million stored trajectories, milliseconds, 50 rounds

| question | median | longest |
|---|---|---|
${await millionTimes()}
`);
