// A server for tests that kill it: DATA PORT [CONFIG as JSON]. Says its address and its process on standard output.
import { fileURLToPath } from 'node:url';
import { checkConfig } from '../../../../server/src/config.ts';
import { serve } from '../../../../server/src/serve.ts';

const [data = '', port = '0', more = '{}'] = process.argv.slice(2);
const config = { listen: { port: Number(port) }, log: { level: 'error' }, ...JSON.parse(more) };
const server = await serve({
  config: checkConfig(config, 'test'),
  data,
  version: '0.0.0',
  write: (line) => process.stderr.write(line),
  // Bundled beside this one.
  workerFile: fileURLToPath(new URL('./server-worker.js', import.meta.url)),
});
process.stdout.write(`${server.url} ${process.pid}\n`);
process.on('SIGTERM', () => void server.close());
