// The client in an editor: the hover of each method, and the compiler's message on a mistake.
import { fileURLToPath } from 'node:url';
import { GatewayClient } from 'payment-gateway-sdk';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const file = `${root}test/types/in-the-editor.ts`;

const METHODS = Object.getOwnPropertyNames(GatewayClient.prototype).filter(name => name !== 'constructor');

const MISTAKES: [field: string, call: string][] = [
  ['paymentMethod', "createDeposit({ paymentMethod: 'SEPA', amount: 1, currency: 'EUR' })"],
  ['amount', "createWithdrawal({ paymentMethod: 'SEPA', currency: 'EUR' })"],
  ['refrence', "createDeposit({ paymentMethod: 'CARD', amount: 1, currency: 'EUR', refrence: 'order-1042' })"],
  ['fristName', "createDeposit({ paymentMethod: 'CARD', amount: 1, currency: 'EUR', customer: { fristName: 'Ada' } })"],
  [
    'billingAddress',
    "createDeposit({ paymentMethod: 'APPLEPAY', amount: 1, currency: 'EUR', reference: null, returnUrl: null })",
  ],
  ['paymentType', "createPayment({ paymentType: 'REFUND', paymentMethod: 'CARD', amount: 1, currency: 'EUR' })"],
  ['postcode', "createPayment({ paymentType: 'DEPOSIT', ...card, billingAddress: { postcode: '1050' } })"],
  ['amount', 'createNftPurchase({ ...card, amount: true })'],
];

const source = [
  "import { GatewayClient } from 'payment-gateway-sdk';",
  'const gateway = new GatewayClient();',
  "const onramp = new GatewayClient({ terminal: 'onramp' });",
  "const card = { paymentMethod: 'CARD', amount: 1, currency: 'EUR' } as const;",
  ...METHODS.flatMap(name => [`gateway.${name};`, `onramp.${name};`]),
  ...MISTAKES.map(([, call]) => `gateway.${call};`),
].join('\n');

const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const textOf = (name: string) => (name === file ? source : ts.sys.readFile(name));
const service = ts.createLanguageService({
  getCurrentDirectory: () => root,
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot: name => ts.ScriptSnapshot.fromString(textOf(name) ?? ''),
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: name => name === file || ts.sys.fileExists(name),
  readFile: textOf,
});
const diagnostics = service.getSemanticDiagnostics(file);

function hoverOf(client: string, method: string): string {
  const at = source.indexOf(`${client}.${method};`) + client.length + 1;
  const hover = ts.displayPartsToString(service.getQuickInfoAtPosition(file, at)?.displayParts);
  return hover.replace(/^\(method\) GatewayClient<"\w+", unknown>\./, '');
}

/** Where the compiler points, and its whole message. */
function messageOn(call: string): string {
  const at = source.indexOf(call);
  const found = diagnostics.find(({ start = 0 }) => start >= at && start < at + call.length);
  if (!found) return '';
  const { start = 0, length = 0, messageText } = found;
  return `${source.slice(start, start + length)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
}

/** Readable interfaces that the index leaves out: parameters and fields of exported ones have them. */
const PARTS = ['OnrampDeposit', 'OnrampCheckout', 'CustomerRequest', 'BillingAddressRequest', 'ApplePayBillingAddress'];
/** Built-in types, and the words that begin the compiler's sentences. */
const WORDS = ['Promise', 'Uint8Array', 'Argument', 'Did', 'Object', 'Property', 'Type', 'Types'];

/** The names of types in a text that a merchant cannot import. */
function helpersIn(text: string): string[] {
  const checker = service.getProgram()?.getTypeChecker();
  const index = service.getProgram()?.getSourceFile(`${root}src/index.ts`);
  const module = index && checker?.getSymbolAtLocation(index);
  const exported = module && checker?.getExportsOfModule(module).map(({ name }) => name);
  const known = new Set([...(exported ?? []), ...PARTS, ...WORDS]);
  return (text.match(/\b[A-Z]+[a-z]\w*/g) ?? []).filter(name => !known.has(name));
}

it('a create shows one named request', () => {
  const ofStandard = METHODS.filter(name => name.startsWith('create')).map(name => hoverOf('gateway', name));
  expect(ofStandard).toEqual([
    'createDeposit(request: DepositRequest, options?: CreateOptions): Promise<Created>',
    'createWithdrawal(request: WithdrawalRequest, options?: CreateOptions): Promise<Created>',
    'createNftPurchase(request: NftPurchaseRequest, options?: CreateOptions): Promise<Created>',
    'createPayment(request: PaymentRequest, options?: CreateOptions): Promise<Created>',
  ]);
  expect(hoverOf('onramp', 'createDeposit')).toBe(
    'createDeposit(request: DepositRequest | OnrampDeposit, options?: CreateOptions): Promise<Created>',
  );
});

it.each(METHODS.flatMap(method => [hoverOf('gateway', method), hoverOf('onramp', method)]))(
  '%s has no helper type',
  hover => {
    expect(hover).toMatch(/^\w+\(.*\): /s);
    expect(helpersIn(hover)).toEqual([]);
  },
);

it.each(MISTAKES.map(([field, call]) => [field, messageOn(call).split('\n')[0], call]))(
  'the message on a mistake names %s: %s',
  (field, _, call) => {
    const message = messageOn(call);
    expect(message).toContain(field);
    expect(helpersIn(message)).toEqual([]);
  },
);
