// Chooses the real gateway if PAYMENT_GATEWAY_URL is set, else the sandbox in this process. Nothing else differs.

export async function openGateway() {
  // The client takes the keys from …_API_KEY and …_SIGN_KEY in the environment. The scopes keep both gateways apart.
  if (process.env.PAYMENT_GATEWAY_URL) return { scope: 'shop', clientOptions: {}, close: async () => {} };

  const { Sandbox } = await import('payment-gateway-sdk/sandbox');
  const { url, close, clientOptions } = await new Sandbox({ shopName: 'Harbour Tea' }).listen();
  return { scope: 'sandbox', clientOptions, close, dashboard: url };
}
