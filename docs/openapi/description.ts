// The whole description of the gateway, in the order in which it is read.
import { CALLBACK_EXAMPLES, CREATE_EXAMPLES, LOOKUP_EXAMPLES, REQUEST_EXAMPLES, SIGNED } from './examples.ts';
import { RECORDS } from './records.ts';
import { REQUESTS } from './requests.ts';
import { type JsonSchema, refTo } from './wire.ts';

const paragraphs = (...texts: string[]): string => texts.join('\n\n');

const json = (schema: JsonSchema, examples: object) => ({ 'application/json': { schema, examples } });

const INFO = paragraphs(
  'A payment gateway for merchants: one endpoint creates deposits and withdrawals, another reads a payment back, and callbacks report its outcome.',
  "payment-gateway-sdk generates this description from the schemas that its client and its sandbox check with. All that it knows of the gateway comes from the gateway's own document, interface version 1.1.0. What that document does not show is said where it matters, and left open:",
  [
    '- the status of a successful create, and the statuses and bodies of refusals',
    '- whether the signature of a create is written in hex or in base64',
    '- how callbacks are signed, if they are, and what the merchant must answer to them',
    '- which fields the methods other than Apple Pay demand, and the fields of `browser` and `additionalParameters`',
    '- how a payment becomes `AUTHORIZED` or `CANCELED`',
    '- rate limits, and the least and the greatest amount',
  ].join('\n'),
  'Where a schema has to say something all the same, it assumes:',
  [
    '- the fields of a customer are text, and `referenceId` text or a number',
    '- `currency` has three letters or digits, or more; `webhookUrl`, `callbackUrl` and `returnUrl` are absolute URLs',
    '- an NFT purchase is a deposit',
    '- any field of a record may be null but those that decide about money; an empty object may come as an empty list',
    '- a lookup may be answered without `result`, as a create may be',
  ].join('\n'),
  'Read answers leniently: a program that refuses a whole answer for one unexpected field loses a payment that was created.',
);

const CREATE = paragraphs(
  'Creates a payment, which is `PENDING` at first. The outcome comes later, as a callback to `webhookUrl` or `callbackUrl`.',
  'The body depends on `paymentType`, and then on `paymentMethod`.',
  "The gateway's document names no idempotency key: a create that is sent again may pay again. If no answer comes, it is unknown whether the payment exists.",
);

const SIGNATURE = paragraphs(
  "HMAC with SHA-256 over the exact bytes of the body, keyed with the merchant's sign key. The gateway's document does not show whether it is written in hex or in base64.",
  `The examples are those of the body \`${SIGNED.body}\` and the sign key \`${SIGNED.signKey}\`.`,
);

const CALLBACK = paragraphs(
  "Posted each time the status of the payment changes. The body is the record itself, not wrapped in `result`. The gateway's document shows the bodies of completed deposits by CARD, GOOGLEPAY, APPLEPAY and BLIK only, and gives callbacks no signature.",
  'Take a callback as a hint that something has changed, and read the payment back before you act on it.',
);

/** The description, as it is written to gateway.json. */
export function describeGateway(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payment gateway',
      summary: 'Deposits, withdrawals and payment lookup',
      description: INFO,
      version: '1.1.0',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '{baseUrl}',
        description: 'The address that the gateway gave you. It may have a path.',
        variables: { baseUrl: { default: 'https://gateway.example' } },
      },
    ],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'payments', description: 'What the merchant calls.' },
      { name: 'callbacks', description: 'What the gateway calls.' },
    ],
    paths: {
      '/api/v1/payments': {
        post: {
          operationId: 'createPayment',
          tags: ['payments'],
          summary: 'Create a deposit or a withdrawal',
          description: CREATE,
          parameters: [{ $ref: '#/components/parameters/Signature' }],
          requestBody: { required: true, content: json(refTo('PaymentRequest'), REQUEST_EXAMPLES) },
          responses: {
            '2XX': {
              description:
                "Created. The gateway's document does not show the status. The record is wrapped in `result`; an earlier variant of the interface shows it alone and without `redirectUrl`, and clients should accept both. Deposits with a redirect have a `redirectUrl`, to send the customer to.",
              content: json({ anyOf: [refTo('CreatedPayment'), refTo('Payment')] }, CREATE_EXAMPLES),
            },
            '4XX': { $ref: '#/components/responses/Refused' },
            default: {
              description: "Anything else. The gateway's document does not show it: the payment may exist.",
            },
          },
          callbacks: {
            toWebhookUrl: { '{$request.body#/webhookUrl}': { $ref: '#/components/pathItems/StatusCallback' } },
            toCallbackUrl: { '{$request.body#/callbackUrl}': { $ref: '#/components/pathItems/StatusCallback' } },
          },
        },
      },
      '/api/v1/payments/{id}': {
        get: {
          operationId: 'getPayment',
          tags: ['payments'],
          summary: 'Read one payment',
          description:
            'Not signed. A payment that exists is answered with 200, also if it has failed: 200 is not "paid".',
          parameters: [
            {
              name: 'id',
              in: 'path',
              required: true,
              description: "The gateway's id of the payment, not the merchant's `reference`.",
              schema: { type: 'string', format: 'uuid' },
            },
          ],
          responses: {
            '200': {
              description: 'The payment. What became of it is in `paymentStatus`.',
              content: json({ anyOf: [refTo('WrappedPayment'), refTo('Payment')] }, LOOKUP_EXAMPLES),
            },
            '404': { description: "No payment has that id. The gateway's document does not show the body." },
            '4XX': { $ref: '#/components/responses/Refused' },
            default: { description: "Anything else. The gateway's document does not show it." },
          },
        },
      },
    },
    webhooks: { paymentStatus: { $ref: '#/components/pathItems/StatusCallback' } },
    components: {
      schemas: { ...REQUESTS, ...RECORDS },
      parameters: {
        Signature: {
          name: 'Signature',
          in: 'header',
          required: true,
          description: SIGNATURE,
          schema: { type: 'string', minLength: 1 },
          examples: {
            hex: { summary: 'In hex', value: SIGNED.hex },
            base64: { summary: 'In base64', value: SIGNED.base64 },
          },
        },
      },
      responses: {
        Refused: {
          description: "Refused. The gateway's document shows neither the statuses of refusals nor their bodies.",
        },
      },
      pathItems: {
        StatusCallback: {
          post: {
            operationId: 'paymentStatusChanged',
            tags: ['callbacks'],
            summary: 'The status of a payment has changed',
            description: CALLBACK,
            security: [{}],
            requestBody: { required: true, content: json(refTo('Payment'), CALLBACK_EXAMPLES) },
            responses: {
              '2XX': {
                description: "Taken. The gateway's document does not show which answer it expects.",
              },
              '4XX': { description: "Not taken. The gateway's document does not show whether it posts again." },
            },
          },
        },
      },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key of the merchant: `Authorization: Bearer <API_KEY>`.',
        },
      },
    },
  };
}
