// The environment that leads a client to a sandbox, to paste into a shell or a file.

export const environmentOf = (
  url: string,
  { apiKey, signKey }: { apiKey: string; signKey: string },
): string[] => [
  `PAYMENT_GATEWAY_URL=${url}`,
  `PAYMENT_GATEWAY_API_KEY=${apiKey}`,
  `PAYMENT_GATEWAY_SIGN_KEY=${signKey}`,
];
