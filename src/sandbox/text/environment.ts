// The environment variables that connect a client to a sandbox, for its .env.

export const environmentOf = (url: string, { apiKey, signKey }: { apiKey: string; signKey: string }) => [
  `PAYMENT_GATEWAY_URL=${url}`,
  `PAYMENT_GATEWAY_API_KEY=${quoted(apiKey)}`,
  `PAYMENT_GATEWAY_SIGN_KEY=${quoted(signKey)}`,
];

/** Quotes a value that readers of .env files would otherwise cut or expand. */
const quoted = (value: string) => (/^[\w./+=:@-]*$/.test(value) ? value : `'${value}'`);
