// Keeps what is planned unreadable for whoever reads the table: AES-256-GCM, bound to the reference.
import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { ConfigurationError } from '../errors.ts';
import type { ProblemOf } from '../options/store-options.ts';
import type { JournalKey, Seal } from './contract.ts';

/** 32 bytes: as they are, or in base64. */
export type EncryptionKey = string | Uint8Array;

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Before what is encrypted. A body that is not begins with a brace. */
const MARK = 'aes-256-gcm:';

/** For an option that is a key. The value is never told. */
export const keyProblem: ProblemOf = value =>
  (typeof value === 'string' || value instanceof Uint8Array) && bytesOf(value).length === KEY_BYTES
    ? undefined
    : 'must be 32 random bytes, or their base64: openssl rand -base64 32';

/** For an option that is a list of keys. */
export const keysProblem: ProblemOf = value =>
  Array.isArray(value) && value.every(key => !keyProblem(key)) ? undefined : 'must be a list of keys of 32 bytes each';

/** @param formerKeys of what was planned before a rotation */
export function sealWith(key: EncryptionKey, formerKeys: readonly EncryptionKey[] = []): Seal {
  const keys = [key, ...formerKeys].map(one => createSecretKey(bytesOf(one)));
  const [current] = keys as [KeyObject];
  return {
    close(body, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current, nonce).setAAD(contextOf(place));
      const text = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]);
      return MARK + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    },
    open(body, place) {
      // Whoever can write the table could plan a payout otherwise.
      if (!body.startsWith(MARK)) throw refused('was planned without a key: drain it with a journal that has none');
      const bytes = Buffer.from(body.slice(MARK.length), 'base64');
      for (const one of keys) {
        try {
          return opened(bytes, one, place);
        } catch {
          // Another key may have closed it.
        }
      }
      throw refused(
        'cannot be decrypted: its key is neither encryptionKey nor among formerEncryptionKeys, or somebody has changed the row',
      );
    },
  };
}

function opened(bytes: Buffer, key: KeyObject, place: JournalKey): string {
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(contextOf(place));
  decipher.setAuthTag(tag);
  const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

/** A body cannot be moved to another reference. */
const contextOf = ({ scope, reference }: JournalKey): Buffer => Buffer.from(JSON.stringify([scope, reference]));

const bytesOf = (key: EncryptionKey): Uint8Array => (typeof key === 'string' ? Buffer.from(key, 'base64') : key);

/** Without a key: what is encrypted is told as such. */
export const NO_SEAL: Seal = {
  close: body => body,
  open(body) {
    if (!body.startsWith(MARK)) return body;
    throw refused('is encrypted: give the journal its encryptionKey');
  },
};

function refused(why: string): ConfigurationError {
  return new ConfigurationError(`A planned request ${why}.`);
}
