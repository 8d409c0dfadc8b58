// AWS Lambda behind a function URL or an HTTP API: takes callbacks by the handler of payments.ts.
import * as payments from './payments.js';

/** The parts of an API Gateway event, payload version 2.0, that are needed here. */
interface HttpEvent {
  rawPath: string;
  rawQueryString: string;
  headers: Record<string, string>;
  requestContext: { domainName: string; http: { method: string } };
  body?: string;
  isBase64Encoded: boolean;
}

export async function handler({ rawPath, rawQueryString, headers, requestContext, body, isBase64Encoded }: HttpEvent) {
  const { domainName, http } = requestContext;
  // The query holds the token of signCallbackUrls.
  const request = new Request(`https://${domainName}${rawPath}?${rawQueryString}`, {
    method: http.method,
    headers,
    body: body === undefined ? null : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  });
  const response = await payments.handler(request);
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
