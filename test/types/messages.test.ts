// What the compiler says of a wrong request: its first line names the field, or points at it.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

const CASES: [field: string, call: string][] = [
  ['paymentMethod', "gateway.createDeposit({ currency: 'EUR', amount: 1, webhookUrl })"],
  ['amount', "gateway.createDeposit({ paymentMethod: 'CARD', currency: 'EUR', webhookUrl })"],
  ['currency', "gateway.createDeposit({ paymentMethod: 'CARD', amount: 1, webhookUrl })"],
  ['webhookUrl', "gateway.createDeposit({ paymentMethod: 'CARD', amount: 1, currency: 'EUR' })"],
  ['paymentType', 'gateway.createPayment({ ...card, amount: 1 })'],
  [
    'billingAddress',
    "gateway.createDeposit({ ...card, amount: 1, paymentMethod: 'APPLEPAY', reference: null, returnUrl: null })",
  ],
  ['amount', 'gateway.createDeposit({ ...card, amount: 0 })'],
  ['amount', 'gateway.createWithdrawal({ ...card, amount: true })'],
  ['currency', 'gateway.createDeposit({ ...card, amount: 1, currency: 978 })'],
  ['paymentMethod', "gateway.createDeposit({ ...card, amount: 1, paymentMethod: 'SEPA' })"],
  ['paymentMethod', "gateway.createDeposit({ ...card, amount: 1, paymentMethod: 'ONRAMP_PIX' })"],
  ['paymentMethod', "gateway.createPayment({ ...card, amount: 1, paymentType: 'WITHDRAWAL', paymentMethod: 'BLIK' })"],
  ['reference', "gateway.createDeposit({ ...card, amount: 1, refrence: 'order-1042' })"],
  ['email', 'gateway.createDeposit({ ...card, amount: 1, customer: { email: 5 } })'],
  ['webhookUrl', 'gateway.createDeposit({ ...card, amount: 1, webhookUrl: new URL(webhookUrl) })'],
];

const HEAD = `
import { GatewayClient } from 'payment-gateway-sdk';
declare const gateway: GatewayClient;
const webhookUrl = 'https://shop.example/callbacks';
const card = { paymentMethod: 'CARD', currency: 'EUR', webhookUrl } as const;
`;

it.each(CASES)('names %s in the first line on %s', { timeout: 30_000 }, (field, call) => {
  const [message] = messagesOf(call);
  expect(message?.toLowerCase()).toContain(field.toLowerCase());
});

const diagnosed = compile(CASES.map(([, call]) => call));

/** The first line of each message, and the source that it points at. */
function messagesOf(call: string): string[] {
  return diagnosed.get(call) ?? [];
}

/** Compiles all calls at once: a program takes seconds. */
function compile(calls: string[]): Map<string, string[]> {
  const name = `${root}test/types/messages-of-wrong-requests.ts`;
  const source = `${HEAD}${calls.join(';\n')};\nexport {};\n`;
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.getSourceFile = (file, version, ...rest) =>
    file === name ? ts.createSourceFile(file, source, version) : getSourceFile(file, version, ...rest);
  host.fileExists = file => file === name || fileExists(file);
  const program = ts.createProgram([name], options, host);
  const lines = source.split('\n');
  const messages = new Map<string, string[]>();
  for (const { file, start = 0, length = 0, messageText } of program.getSemanticDiagnostics(
    program.getSourceFile(name),
  )) {
    const line = lines[file?.getLineAndCharacterOfPosition(start).line ?? 0]?.replace(/;$/, '') ?? '';
    const [first] = ts.flattenDiagnosticMessageText(messageText, '\n').split('\n');
    messages.set(line, [
      ...(messages.get(line) ?? []),
      `${source.slice(start, start + length).slice(0, 40)}: ${first}`,
    ]);
  }
  return messages;
}
