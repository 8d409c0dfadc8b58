// biome-ignore-all lint/suspicious/noTemplateCurlyInString: parts of template literals of the source
// Mutants that no test can or should catch, each with the reason.

export interface Survivor {
  file: string;
  /** The lines that are changed, in one: white space counts as one space. */
  from: string;
  to: string;
  because: string;
}

export const SURVIVORS: readonly Survivor[] = [
  {
    file: 'src/payments/drain-options.ts',
    from: "const read = optionsReader<DrainOptions>()('options', {",
    to: 'const read = optionsReader<DrainOptions>()("", {',
    because: 'readArgument refuses in words of its own, without this name',
  },
  {
    file: 'src/payments/wait.ts',
    from: "const readWait = optionsReader<WaitOptions>()('options', {",
    to: 'const readWait = optionsReader<WaitOptions>()("", {',
    because: 'readArgument refuses in words of its own, without this name',
  },
  {
    file: 'src/payments/gateway.ts',
    from: 'loading.catch(() => {});',
    to: ';',
    because: 'it matters where a part of the package cannot be loaded, which the calls report',
  },
  {
    file: 'src/payments/callback-token.ts',
    from: "const [, query = ''] = /^[^?#]*\\?([^#]*)/.exec(url) ?? [];",
    to: 'const [, query = "Stryker was here!"] = /^[^?#]*\\?([^#]*)/.exec(url) ?? [];',
    because: 'a query that is no token is as good as none',
  },
  {
    file: 'src/payments/callback-token.ts',
    from: "const [, query = ''] = /^[^?#]*\\?([^#]*)/.exec(url) ?? [];",
    to: 'const [, query = \'\'] = /^[^?#]*\\?([^#]*)/.exec(url) ?? ["Stryker was here"];',
    because: 'what stands first is not read',
  },
  {
    file: 'src/payments/callback-token.ts',
    from: "const token = new URLSearchParams(query).getAll(PARAMETER).at(-1) ?? '';",
    to: 'const token = new URLSearchParams(query).getAll(PARAMETER).at(-1) ?? "Stryker was here!";',
    because: 'a text that is no token is as good as none',
  },
  {
    file: 'src/payments/callback-token.ts',
    from: "const digestIn = (token: string): string => token.split('.')[0] ?? '';",
    to: 'const digestIn = (token: string): string => token.split(\'.\')[0] ?? "Stryker was here!";',
    because: 'split always answers a first part',
  },
  {
    file: 'src/payments/callback-token.ts',
    from: "const [address = '', ...fragment] = url.split('#');",
    to: 'const [address = "Stryker was here!", ...fragment] = url.split(\'#\');',
    because: 'split always answers a first part',
  },
  {
    file: 'src/payments/drain.ts',
    from: "const { request, extra } = openPlan(client.journal, plan.body ?? '', plan);",
    to: 'const { request, extra } = openPlan(client.journal, plan.body ?? "Stryker was here!", plan);',
    because: 'what is planned has a body',
  },
  {
    file: 'src/payments/drain.ts',
    from: 'if (!isGatewayError(error)) throw error;',
    to: 'if (false) throw error;',
    because: 'a create throws nothing else, unless this SDK is broken',
  },
  {
    file: 'src/payments/follow.ts',
    from: "signal.addEventListener('abort', ring, { once: true });",
    to: "signal.addEventListener('abort', ring, {});",
    because: 'a signal is aborted once',
  },
  {
    file: 'src/payments/lookup.ts',
    from: "(gateway: Gateway, cause: Call = new Call('lookup', gateway)): LookUp =>",
    to: '(gateway: Gateway, cause: Call = new Call("", gateway)): LookUp =>',
    because: 'what a cause is called is told to nobody: its lookups have names of their own',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: "...new Set(Array.from(text.matchAll(CANDIDATE), ([, id = '']) => id.toLowerCase())),",
    to: '...new Set(Array.from(text.matchAll(CANDIDATE), ([, id = "Stryker was here!"]) => id.toLowerCase())),',
    because: 'each match has an id',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'const TOKEN = /\\s*("[^"\\\\]*(?:\\\\.[^"\\\\]*)*(?:"|\\\\?$)|[{}[\\],:]|[^\\s"{}[\\],:]+)/sy;',
    to: 'const TOKEN = /\\s*("[^"\\\\]*(?:\\\\.[^"\\\\]*)*(?:"|\\\\?)|[{}[\\],:]|[^\\s"{}[\\],:]+)/sy;',
    because: 'the text is at its end there; or: what is skipped is skipped in more steps',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'const TOKEN = /\\s*("[^"\\\\]*(?:\\\\.[^"\\\\]*)*(?:"|\\\\?$)|[{}[\\],:]|[^\\s"{}[\\],:]+)/sy;',
    to: 'const TOKEN = /\\s*("[^"\\\\]*(?:\\\\.[^"\\\\]*)*(?:"|\\\\?$)|[{}[\\],:]|[^\\s"{}[\\],:])/sy;',
    because: 'the text is at its end there; or: what is skipped is skipped in more steps',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'expectsKey = frame?.isObject ?? false;',
    to: 'expectsKey = frame?.isObject ?? true;',
    because: 'what is read after the first brace has a frame',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'const quoted = /^\\s*"/.test(text) ? findPaymentId(unquote(text.trim()), depth + 1) : undefined;',
    to: 'const quoted = /^\\s*"/.test(text) ? findPaymentId(unquote(text), depth + 1) : undefined;',
    because: 'JSON.parse takes white space around a text',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'let expectsKey = false;',
    to: 'let expectsKey = true;',
    because: 'the first token is a brace, after which a key is expected',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'for (let token = next.exec(text)?.[1]; token !== undefined; token = next.exec(text)?.[1]) {',
    to: 'for (let token = next.exec(text)[1]; token !== undefined; token = next.exec(text)?.[1]) {',
    because: 'the first token is the brace that was found',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: "const isResult = open.length === 1 && frame?.key === 'result';",
    to: "const isResult = open.length === 1 && frame.key === 'result';",
    because: 'where one is open there is a frame',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: "expectsKey = token === '{';",
    to: 'expectsKey = true;',
    because: 'what a list has for a key is never read',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'expectsKey = frame?.isObject ?? false;',
    to: 'expectsKey = frame.isObject ?? false;',
    because: 'what is read after the first brace has a frame',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: "if (frame.id && frame.hasStatus && frame.place === 'elsewhere') found.elsewhere.add(frame.id);",
    to: 'if (frame.id && frame.hasStatus && true) found.elsewhere.add(frame.id);',
    because: 'an id of the answer or its result comes before those elsewhere',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'return token.replace(/^"|"$/g, \'\');',
    to: 'return token.replace(/"|"$/g, \'\');',
    because: 'a text with other quotes in it is no key and no id',
  },
  {
    file: 'src/payments/payment-id.ts',
    from: 'return token.replace(/^"|"$/g, \'\');',
    to: 'return token.replace(/^"|"/g, \'\');',
    because: 'a text with other quotes in it is no key and no id',
  },
  {
    file: 'src/payments/reason.ts',
    from: "const { authorization = '', signature = '' } = headers;",
    to: 'const { authorization = "Stryker was here!", signature = \'\' } = headers;',
    because: 'no word of an answer equals it',
  },
  {
    file: 'src/payments/reason.ts',
    from: "const isOpen = words.length > MOST && !struck.endsWith('***');",
    to: "const isOpen = words.length >= MOST && !struck.endsWith('***');",
    because: 'at just that length nothing was cut, and what is left out is beyond the longest reason',
  },
  {
    file: 'src/payments/reason.ts',
    from: "if (whole === '') return undefined;",
    to: 'if (false) return undefined;',
    because: 'an error leaves out an empty reason',
  },
  {
    file: 'src/payments/reason.ts',
    from: "if (whole === '') return undefined;",
    to: 'if (whole === "Stryker was here!") return undefined;',
    because: 'an error leaves out an empty reason',
  },
  {
    file: 'src/payments/reason.ts',
    from: "if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];",
    to: 'if (false || value === null || depth > DEEPEST) return [];',
    because: 'a number or a boolean has no entries',
  },
  {
    file: 'src/payments/reason.ts',
    from: 'const values = Object.entries(fields).flatMap(([name, value]) => (OWN.has(name) ? [] : leavesOf(value)));',
    to: 'const values = Object.entries(fields).flatMap(([name, value]) => (OWN.has(name) ? ["Stryker was here"] : leavesOf(value)));',
    because: 'no word of an answer equals it',
  },
  {
    file: 'src/payments/reason.ts',
    from: "const { authorization = '', signature = '' } = headers;",
    to: 'const { authorization = \'\', signature = "Stryker was here!" } = headers;',
    because: 'no word of an answer equals it',
  },
  {
    file: 'src/payments/reason.ts',
    from: "const secrets = [authorization.replace(/^Bearer /, ''), signature, ...values]",
    to: "const secrets = [authorization.replace(/Bearer /, ''), signature, ...values]",
    because: 'the header begins with it',
  },
  {
    file: 'src/payments/reason.ts',
    from: 'const value = plain(secret.slice(0, MOST));',
    to: 'const value = plain(secret);',
    because: 'it is for speed: no more than the beginning is looked for',
  },
  {
    file: 'src/payments/reason.ts',
    from: 'const isLong = secret.length > MOST || value.length > LONGEST_VALUE;',
    to: 'const isLong = false || value.length > LONGEST_VALUE;',
    because: 'it differs for a value of hundreds of spaces',
  },
  {
    file: 'src/payments/reason.ts',
    from: 'const isLong = secret.length > MOST || value.length > LONGEST_VALUE;',
    to: 'const isLong = secret.length >= MOST || value.length > LONGEST_VALUE;',
    because: 'it differs for a value of hundreds of spaces',
  },
  {
    file: 'src/payments/refusal.ts',
    from: "const own = payments.find(payment => hasReference(payment, request.reference ?? ''));",
    to: 'const own = payments.find(payment => hasReference(payment, request.reference ?? "Stryker was here!"));',
    because: 'no payment has that reference',
  },
  {
    file: 'src/payments/refusal.ts',
    from: 'if (deadline.remaining <= pause) throw new LateError();',
    to: 'if (deadline.remaining < pause) throw new LateError();',
    because: 'a clock that runs is not equal to a number',
  },
  {
    file: 'src/payments/response.ts',
    from: "if (operation === 'lookup') return paymentId ? `the lookup of payment ${paymentId}` : 'a lookup';",
    to: 'if (operation === \'lookup\') return paymentId ? `the lookup of payment ${paymentId}` : "";',
    because: 'a lookup that is sent has an id',
  },
  {
    file: 'src/payments/response.ts',
    from: "path: path.replace(/^(?:payment|transfer)\\.?/, ''),",
    to: "path: path.replace(/(?:payment|transfer)\\.?/, ''),",
    because: 'each path begins with one of the two',
  },
  {
    file: 'src/payments/response.ts',
    from: 'const paymentId = result.received.map(text => findPaymentId(text)).find(id => id !== undefined);',
    to: 'const paymentId = result.received.map(text => findPaymentId(text)).find(id => true);',
    because: 'a create is sent once, so there is one text at most',
  },
  {
    file: 'src/payments/response.ts',
    from: 'const isSuccess = ({ status }: HttpAnswer) => status >= 200 && status < 300;',
    to: 'const isSuccess = ({ status }: HttpAnswer) => true && status < 300;',
    because: 'no answer that is told has a status below 200',
  },
  {
    file: 'src/payments/wait.ts',
    from: 'if (left < TOO_SHORT) {',
    to: 'if (left <= TOO_SHORT) {',
    because: 'a clock that runs is not equal to a number',
  },
  {
    file: 'src/inbox/contract.ts',
    from: 'export const LOCK_PAUSES: readonly number[] = [20, 40, 80, 160, 320, 640];',
    to: 'export const LOCK_PAUSES: readonly number[] = [];',
    because: 'test/stores/postgres-inbox.test.ts catches it: it is in store-mutants.ts',
  },
];
