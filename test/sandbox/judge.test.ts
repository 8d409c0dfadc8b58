// What is said of a callback that was answered otherwise than expected.
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/sandbox/callbacks/delivery.ts';
import type { Expectation } from '../../src/sandbox/scenarios/format.ts';
import { judgeCallbacks } from '../../src/sandbox/scenarios/judge.ts';
import type { Witnessed } from '../../src/sandbox/scenarios/witness.ts';

const BASE: Delivery = {
  id: 1,
  at: 0,
  paymentId: 'x',
  paymentStatus: 'COMPLETED',
  url: 'https://shop.example',
  body: '{}',
};
const callback = (delivery: Partial<Delivery>, seen: Partial<Witnessed> = {}): Witnessed => ({
  ...{ delivery: { ...BASE, ...delivery }, isLookedUp: false, isHindered: false },
  ...seen,
});
const judged = (witnessed: Witnessed, expectation?: Expectation, before: Delivery[] = []) =>
  judgeCallbacks(
    'steps[0]',
    expectation === undefined ? undefined : { callbacks: [expectation] },
    [witnessed],
    [...before, witnessed.delivery],
  );

const LOST = { fault: 'callback-lose', error: 'never posted' } as const;
const FORGED = { fault: 'callback-forge' } as const;
const LOG = 'A server answers 2xx once a callback has taken effect: its log says why this one has not.';
const WOULD_NOT_COME = 'A server must not answer 2xx to what has no effect: it would never come again.';
const LOOK = 'Look each payment up before you act on its callback, and act on the record: createWebhookHandler does.';
const RUNNING = 'Is your server running, and is that the address of its callbacks?';
const OTHERWISE = "Your server's log says why.";

describe('nothing is said of a callback that', () => {
  it.each<[string, Witnessed, Expectation | undefined]>([
    ['was taken', callback({ status: 200 }), undefined],
    ['was taken, at the edge of 2xx', callback({ status: 299 }), 'taken'],
    ['was lost on purpose', callback(LOST), undefined],
    ['was to be lost', callback(LOST), 'lost'],
    ['could not be taken, because its lookup was hindered', callback({ status: 503 }, { isHindered: true }), undefined],
    ['was to be answered', callback({ status: 500 }), 'answered'],
    ['was to be refused', callback({ status: 400 }), 'refused'],
    ['is forged, and was refused', callback({ ...FORGED, status: 400 }), undefined],
    ['is forged, and was looked up', callback({ ...FORGED, status: 200 }, { isLookedUp: true }), undefined],
    ['had that very status', callback({ status: 418 }), 418],
  ])('%s', (_, witnessed, expectation) => {
    expect(judged(witnessed, expectation)).toEqual([]);
  });
});

describe('it is said of a callback that', () => {
  const said = (name: string, rest: string) => [`steps[0], callback 1 of 1 (${name}): expected ${rest}`];
  it.each<[string, Witnessed, Expectation | undefined, string[]]>([
    [
      'was looked up, and taken all the same',
      callback({ status: 200 }, { isLookedUp: true }),
      'refused',
      said('COMPLETED', `refused, but it was answered 200. ${WOULD_NOT_COME}`),
    ],
    [
      'met nobody at an address with dots',
      callback({ error: 'connect ECONNREFUSED 127.0.0.1:1' }),
      undefined,
      said('COMPLETED', `taken, but it was not answered (connect ECONNREFUSED 127.0.0.1:1). ${RUNNING}`),
    ],
    ['failed', callback({ status: 500 }), undefined, said('COMPLETED', `taken, but it was answered 500. ${LOG}`)],
    [
      'met no route',
      callback({ status: 404 }),
      undefined,
      said('COMPLETED', 'taken, but it was answered 404. Nothing takes callbacks there: is the path right?'),
    ],
    ['was redirected', callback({ status: 300 }), 'taken', said('COMPLETED', `taken, but it was answered 300. ${LOG}`)],
    ['came too early', callback({ status: 199 }), 'taken', said('COMPLETED', `taken, but it was answered 199. ${LOG}`)],
    [
      'was answered in words',
      callback({ status: 500, answer: `no\u0007${'x'.repeat(200)}` }),
      undefined,
      [expect.stringMatching(/it was answered 500 "no[^"]{116,124}x"\. A server answers 2xx/)],
    ],
    [
      'got no answer',
      callback({ error: 'connect ECONNREFUSED.' }),
      undefined,
      said('COMPLETED', `taken, but it was not answered (connect ECONNREFUSED). ${RUNNING}`),
    ],
    [
      'is under way',
      callback({}),
      'answered',
      said('COMPLETED', `answered, but it was not answered (it is still under way). ${RUNNING}`),
    ],
    [
      'was to be refused, and got no answer',
      callback({}),
      'refused',
      said('COMPLETED', `refused, but it was not answered (it is still under way). ${RUNNING}`),
    ],
    [
      'was to be refused',
      callback({ status: 200 }),
      'refused',
      said('COMPLETED', `refused, but it was answered 200. ${WOULD_NOT_COME}`),
    ],
    [
      'was to be lost',
      callback({ status: 200 }),
      'lost',
      said('COMPLETED', `lost, but it was answered 200. ${OTHERWISE}`),
    ],
    ['was never posted', callback(LOST), 'taken', said('COMPLETED', `taken, but it was never posted. ${RUNNING}`)],
    [
      'is forged, and was believed',
      callback({ ...FORGED, status: 200 }),
      undefined,
      said(
        'forged COMPLETED',
        `not-believed, but it was answered 200, and the payment was not looked up before. ${LOOK}`,
      ),
    ],
    [
      'is edited, and got no answer',
      callback({ isEdited: true }, { isLookedUp: true }),
      undefined,
      said('forged COMPLETED', `not-believed, but it was not answered (it is still under way). ${RUNNING}`),
    ],
    [
      'had another status',
      callback({ status: 200 }),
      418,
      said('COMPLETED', `418, but it was answered 200. ${OTHERWISE}`),
    ],
  ])('%s', (_, witnessed, expectation, expected) => {
    expect(judged(witnessed, expectation)).toEqual(expected);
  });

  it('repeats a forged one', () => {
    const forged = { ...BASE, ...FORGED, id: 7, status: 400 };
    const again = callback({ id: 8, repeats: 7, status: 200 });
    expect(judged(again, undefined, [forged])).toEqual(
      said(
        'forged COMPLETED posted again',
        `not-believed, but it was answered 200, and the payment was not looked up before. ${LOOK}`,
      ),
    );
    const honest = { ...BASE, id: 7, status: 500 };
    expect(judged(again, undefined, [honest])).toEqual([]);
    expect(judged(callback({ id: 8, repeats: 7, status: 500 }), undefined, [honest])[0]).toContain(
      '(COMPLETED posted again)',
    );
  });
});

describe('as many callbacks as expected', () => {
  const counted = (wanted: Expectation[], ...came: Witnessed[]) =>
    judgeCallbacks(
      'steps[0]',
      { callbacks: wanted },
      came,
      came.map(({ delivery }) => delivery),
    );
  const END = 'Expect one for each callback that is posted.';

  it('must come', () => {
    const [one, two] = [callback({ status: 200 }), callback({ status: 500 })];
    expect(counted([], one, two)).toEqual([
      `steps[0]: expected no callback, and 2 came (COMPLETED, answered 200; COMPLETED, answered 500). ${END}`,
    ]);
    expect(counted(['taken'])).toEqual([`steps[0]: expected 1 callback (taken), and none came. ${END}`]);
    expect(counted(['taken', 'lost'], one)).toEqual([
      `steps[0]: expected 2 callbacks (taken, lost), and 1 came (COMPLETED, answered 200). ${END}`,
    ]);
    expect(counted([])).toEqual([]);
  });

  it('are judged in their order', () => {
    expect(counted(['refused', 'taken'], callback({ status: 400 }), callback({ status: 500 }))).toEqual([
      `steps[0], callback 2 of 2 (COMPLETED): expected taken, but it was answered 500. ${LOG}`,
    ]);
  });
});
