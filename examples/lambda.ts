// AWS Lambda behind a function URL, an API Gateway or a load balancer: takes callbacks with the handler of payments.ts.
import * as payments from './payments.js';

/** The needed parts of an event: payload 2.0 (function URL, HTTP API), 1.0 (REST API) or that of a load balancer. */
interface HttpEvent {
  rawPath?: string;
  rawQueryString?: string;
  path?: string;
  queryStringParameters?: Record<string, string | undefined> | null;
  httpMethod?: string;
  requestContext?: { http?: { method: string } };
  headers?: Record<string, string | undefined> | null;
  body?: string | null;
  isBase64Encoded?: boolean;
}

export async function handler(event: HttpEvent) {
  const response = await payments.handler(requestOf(event));
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
    isBase64Encoded: false,
  };
}

function requestOf({ headers, body, isBase64Encoded, ...event }: HttpEvent): Request {
  const method = event.requestContext?.http?.method ?? event.httpMethod ?? 'POST';
  const query = Object.entries(event.queryStringParameters ?? {}).map(([name, value]) => `${name}=${value}`);
  const { rawPath = event.path ?? '/', rawQueryString = query.join('&') } = event; // the token of signCallbackUrls
  const carried = Object.entries(headers ?? {}).filter(([, value]) => /^[\x20-\xff]*$/.test(value ?? '')); // Headers refuses others
  return new Request(`https://shop.example${rawPath}?${rawQueryString}`, {
    method,
    headers: carried.map(([name, value]) => [name, value ?? '']),
    body: method === 'POST' ? Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8') : null,
  });
}
