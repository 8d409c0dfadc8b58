// Serves the Lambda example as AWS would: HTTP in, and events of each payload in turn to the function.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { handler } from '../../examples/lambda.ts';

type Event = Parameters<typeof handler>[0];

let count = 0;
const server = createServer(async (request, response) => {
  const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const method = request.method ?? '';
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const bytes = await buffer(request);
  const encoded = bytes.length > 0 ? { body: bytes.toString('base64'), isBase64Encoded: true } : { body: null };
  const first = { path: pathname, httpMethod: method, queryStringParameters: Object.fromEntries(searchParams) };
  const events: Event[] = [
    { rawPath: pathname, rawQueryString: search.slice(1), requestContext: { http: { method } }, headers, ...encoded },
    { ...first, headers: { ...headers, 'x-name': '王伟' }, ...encoded },
    { ...first, headers: null, body: bytes.toString(), isBase64Encoded: false },
  ];
  const { statusCode, headers: answered, body } = await handler(events[count++ % events.length] as Event);
  response.writeHead(statusCode, answered).end(body);
});
server.listen(0, () => console.log('Listening on', server.address()));
