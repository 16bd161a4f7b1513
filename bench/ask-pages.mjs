/** node ask-pages.mjs BASE_URL KEY changes|items PAGES: reads pages, and prints how many it received per second. */
import { Agent, get } from 'node:http';

const [baseUrl, key, what, pages] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

/** Requests a page and returns only the end of its body, which contains the cursor or the number of pages. */
function ask(path) {
  return new Promise((resolve, reject) => {
    const request = get(
      `${baseUrl}/api/v1${path}`,
      { agent, headers: { authorization: `Bearer ${key}` } },
      (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${path}: ${answer.statusCode}`));
        let end = Buffer.alloc(0);
        answer.on('data', (chunk) => {
          end = chunk;
        });
        answer.on('end', () => resolve(end.subarray(-100).toString()));
      },
    );
    request.on('error', reject);
  });
}

async function readFeed() {
  let cursor = '0';
  for (let k = 0; k < pages; k++) {
    const end = await ask(`/changes?limit=1000&after=${cursor}`);
    cursor = end.includes('"hasMore":true') ? /"nextCursor":(\d+)\}$/.exec(end)[1] : '0';
  }
}

async function readItems() {
  const [, total] = /"totalPages":(\d+)\}$/.exec(await ask('/items?size=500'));
  let page = 0;
  const readSome = async () => {
    while (page < pages) await ask(`/items?size=500&page=${page++ % total}`);
  };
  await Promise.all([readSome(), readSome(), readSome(), readSome()]);
}

// The sandbox may prepare data for the first request, so this one isn't measured.
await ask(what === 'changes' ? '/changes' : '/items?size=500');
const start = performance.now();
await (what === 'changes' ? readFeed() : readItems());
process.stdout.write(String((pages / (performance.now() - start)) * 1000));
agent.destroy();
