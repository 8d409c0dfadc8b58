// The client that onPayment gets, over a double of one of pg: what it refuses, what it waits for, and which error it tells.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { lend } from '../../src/postgres/lent-client.ts';
import { errorOf } from '../support/fixtures.ts';

type Callback = (error: unknown, ...result: unknown[]) => void;

const failure = Object.assign(new Error('division by zero'), { code: '22012' });

/** A client of pg, with promises and with callbacks. Texts that contain "fail" fail; one that contains "never" is not answered. */
function client() {
  /** As a private field is found. */
  const marker = (self: object) => (self === double ? double.marker : 'of somebody else');
  const asked: unknown[][] = [];
  const double = {
    marker: 'of the client',
    asked,
    query(...args: unknown[]): unknown {
      const [first, ...rest] = args;
      const text = String((first as { text?: string } | undefined)?.text ?? first);
      asked.push([first, ...rest.filter(arg => typeof arg !== 'function')]);
      if (text.includes('throw')) throw failure;
      const callback = [(first as { callback?: Callback } | undefined)?.callback, ...rest].find(
        (each): each is Callback => typeof each === 'function',
      );
      if (text.includes('never')) return callback ? undefined : new Promise(() => {});
      const error = text.includes('fail') ? failure : null;
      if (callback) return void setImmediate(() => callback(error, { rows: [text] }, 'more'));
      return error ? Promise.reject(error) : Promise.resolve({ rows: [text] });
    },
    release: vi.fn(),
    end: vi.fn(),
    connect: vi.fn(),
    /** Needs its own client as `this`, and not a proxy of it. */
    whoami() {
      return marker(this);
    },
    on() {},
    removeListener() {},
  };
  return double;
}
type Double = ReturnType<typeof client>;
const lendTo = (double: Double, work: (tx: Double) => Promise<unknown>) => lend(double as never, work as never);

describe('a client that is lent', () => {
  it('sends what it is asked as it is, and answers as the client does', async () => {
    const double = client();
    const error = await lendTo(double, async tx => {
      expect(await tx.query('select $1', ['a'])).toEqual({ rows: ['select $1'] });
      expect(await tx.query({ text: 'select 2', values: ['b'] })).toEqual({ rows: ['select 2'] });
      expect([tx.marker, tx.whoami()]).toEqual(['of the client', 'of the client']);
    });
    expect([error, double.asked]).toEqual([undefined, [['select $1', ['a']], [{ text: 'select 2', values: ['b'] }]]]);
  });

  it('calls back as the client does, with all of the answer', async () => {
    const double = client();
    const answers: unknown[][] = [];
    const asked = (ask: (callback: Callback) => unknown) =>
      new Promise<void>(resolve => {
        ask((...answer) => {
          answers.push(answer);
          resolve();
        });
      });
    const error = await lendTo(double, async tx => {
      await asked(callback => tx.query('one', callback));
      await asked(callback => tx.query('two', ['a'], callback));
      await asked(callback => tx.query({ text: 'three', callback }));
      await asked(callback => tx.query('fails', callback));
    });
    expect(answers).toEqual([
      [null, { rows: ['one'] }, 'more'],
      [null, { rows: ['two'] }, 'more'],
      [null, { rows: ['three'] }, 'more'],
      [failure, { rows: ['fails'] }, 'more'],
    ]);
    expect([error, double.asked[1]]).toEqual([failure, ['two', ['a']]]);
  });

  it('cannot be released, ended or connected', async () => {
    const double = client();
    await lendTo(double, async tx => {
      for (const name of ['release', 'end', 'connect'] as const) {
        expect(() => tx[name]()).toThrow(
          'tx is lent to onPayment, and the inbox releases it itself: leave out release, end and connect.',
        );
      }
    });
    expect([double.release, double.end, double.connect].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it.each([
    ['a text', (tx: Double) => tx.query('commit')],
    ['an object', (tx: Double) => tx.query({ text: 'select 1; rollback' })],
  ])('refuses what ends the transaction, given as %s', async (_, send) => {
    const double = client();
    await lendTo(double, async tx => {
      await expect(send(tx)).rejects.toThrow(
        'tx is one transaction, which the inbox commits together with its mark, so BEGIN, COMMIT and ROLLBACK are refused',
      );
    });
    expect(double.asked).toEqual([]);
  });

  it('refuses by the callback where there is one, and not at once', async () => {
    const double = client();
    await lendTo(double, async tx => {
      for (const send of [
        (callback: Callback) => tx.query('commit', callback),
        (callback: Callback) => tx.query('commit', [], callback),
        (callback: Callback) => tx.query({ text: 'commit', callback }),
      ]) {
        const told = vi.fn();
        expect(send(told)).toBeUndefined();
        expect(told).not.toHaveBeenCalled();
        await new Promise(setImmediate);
        expect(told.mock.calls).toEqual([
          [expect.objectContaining({ message: expect.stringContaining('are refused') })],
        ]);
      }
    });
    expect(double.asked).toEqual([]);
  });

  it('refuses cursors and streams, and leaves to pg what is no query at all', async () => {
    const double = client();
    await lendTo(double, async tx => {
      await expect(tx.query({ submit() {} })).rejects.toThrow('tx takes a text or { text, values }');
      await tx.query(undefined);
      await tx.query({ text: 7 });
      await tx.query(null);
    });
    expect(double.asked).toHaveLength(3);
  });

  it('lets a refusal that nobody awaits end no process', async () => {
    const double = client();
    const ended = vi.fn();
    process.on('unhandledRejection', ended);
    onTestFinished(() => void process.off('unhandledRejection', ended));
    await lendTo(double, async tx => void tx.query('commit'));
    await new Promise(setImmediate);
    expect(ended).not.toHaveBeenCalled();
  });

  it('takes nothing once the work has returned, or failed', async () => {
    const double = client();
    let left: Double | undefined;
    await lendTo(double, async tx => {
      left = tx;
    });
    await expect(left?.query('late')).rejects.toThrow('The transaction has ended: onPayment has returned');
    const thrown = new Error('of the shop');
    const failing = lendTo(double, async tx => {
      left = tx;
      throw thrown;
    });
    expect(await errorOf(failing)).toBe(thrown);
    await expect(left?.query('late')).rejects.toThrow('The transaction has ended');
    expect(double.asked).toEqual([]);
  });

  it.each([
    ['one', ['never'], 1],
    ['two', ['never', 'select 1', 'never again'], 2],
  ])('rejects where %s of its queries still run', async (_, texts, count) => {
    const double = client();
    const failing = lendTo(double, async tx => {
      for (const text of texts) void tx.query(text);
      await new Promise(setImmediate);
    });
    const { message } = (await errorOf(failing)) as Error;
    expect(message).toContain(
      `onPayment returned while ${count} of its queries ran, so nothing was committed. The transaction has ended`,
    );
  });

  it('waits for no query with a callback that was answered', async () => {
    const double = client();
    await lendTo(double, tx => new Promise<void>(resolve => void tx.query('select 1', () => resolve())));
    await expect(lendTo(double, async tx => void tx.query('never', () => {}))).rejects.toThrow(
      'while 1 of its queries',
    );
  });
});

describe('the first error of a client that is lent', () => {
  it('is told, whatever the work has made of it', async () => {
    const error = await lendTo(client(), async tx => {
      await tx.query('select 1');
      await errorOf(tx.query('fails') as Promise<unknown>);
      await errorOf(Promise.resolve().then(() => tx.query('throws')));
      await tx.query('select 2');
    });
    expect(error).toBe(failure);
  });

  it('is also what the client throws at once', async () => {
    const double = client();
    expect(await lendTo(double, async tx => void expect(() => tx.query('throws')).toThrow('division'))).toBe(failure);
  });

  it.each(['rollback to savepoint mine', ' ROLLBACK TO mine', '\nrollback work to mine'])(
    'is forgotten after it was undone by %s',
    async undo => {
      const error = await lendTo(client(), async tx => {
        await errorOf(tx.query('fails') as Promise<unknown>);
        await tx.query(undo);
      });
      expect(error).toBeUndefined();
    },
  );

  it.each(['rollback to savepoint fails', 'select 1 -- rollback to mine', 'rollbacks to mine', 'savepoint rollback_1'])(
    'is kept after %s',
    async text => {
      const error = await lendTo(client(), async tx => {
        await errorOf(tx.query('fails') as Promise<unknown>);
        await (tx.query(text) as Promise<unknown>).catch(() => {});
      });
      expect(error).toBe(failure);
    },
  );

  it('is forgotten also where the undo calls back, and is an object', async () => {
    const error = await lendTo(client(), async tx => {
      await errorOf(tx.query('fails') as Promise<unknown>);
      await new Promise<void>(resolve => void tx.query({ text: 'rollback to mine', callback: () => resolve() }));
    });
    expect(error).toBeUndefined();
  });
});
