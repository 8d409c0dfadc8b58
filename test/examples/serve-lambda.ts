// Serves the Lambda example as API Gateway would: HTTP in, an event with a base64 body to the function.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { handler } from '../../examples/lambda.ts';

const server = createServer(async (request, response) => {
  const [rawPath = '/', rawQueryString = ''] = (request.url ?? '/').split('?');
  const { statusCode, headers, body } = await handler({
    rawPath,
    rawQueryString,
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    requestContext: { domainName: 'shop.example', http: { method: request.method ?? '' } },
    body: (await buffer(request)).toString('base64'),
    isBase64Encoded: true,
  });
  response.writeHead(statusCode, headers).end(body);
});
server.listen(0, () => console.log('Listening on', server.address()));
