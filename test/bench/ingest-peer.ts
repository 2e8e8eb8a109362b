// The peer: a bare Fastify that inserts each body with the same durability (WAL, synchronous=FULL), checks nothing and
// commits one by one. DATA.
import Fastify from 'fastify';
import { openFolders } from '../../server/src/folders.ts';
import { openDatabase } from '../../server/src/store/database.ts';

const [data = ''] = process.argv.slice(2);
const db = openDatabase(openFolders(data).database);
db.exec('CREATE TABLE bare (id TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT');
const insert = db.prepare('INSERT INTO bare VALUES (?, ?)');
const app = Fastify({ bodyLimit: 16 * 1024 * 1024 });
app.addContentTypeParser(
  'application/octet-stream',
  { parseAs: 'buffer' },
  (_request, body, done) => done(null, body),
);
app.post<{ Params: { id: string }; Body: Buffer }>('/:id', async ({ params, body }) => {
  insert.run(params.id, body);
  return 'stored';
});
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.stdin.resume().on('end', () => {
  void app.close().then(() => {
    db.close();
    process.exit(0);
  });
});
