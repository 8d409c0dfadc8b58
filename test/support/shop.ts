// A merchant's callback address on loopback that keeps what is posted to it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Post {
  url: string;
  contentType: string;
  body: string;
}

export async function openShop(answer: (count: number) => number | Promise<number> = () => 200) {
  const posts: Post[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    posts.push({ url: request.url ?? '', contentType: request.headers['content-type'] ?? '', body });
    response.writeHead(await answer(posts.length)).end('thanks');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, posts, close };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;
