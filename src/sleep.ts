// A pause that a signal can end.
import { ConnectionError } from './errors.ts';

/** @throws {ConnectionError} `aborted`, as soon as the signal is */
export function sleep(ms: number, paymentId: string, signal?: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const stop = () => {
      clearTimeout(timer);
      reject(new ConnectionError(`The wait for payment ${paymentId} was aborted.`, 'aborted', { paymentId }));
    };
    const timer = setTimeout(wake, ms);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}
