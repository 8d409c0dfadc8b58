// Decides the result of each form on the customer's page, without moving a payment.
import type { FailureReason } from '../../ledger/record.ts';
import { readCode } from './blik.ts';
import { readCard } from './card.ts';
import { DECLINES } from './declines.ts';
import { addressOf, type View } from './view.ts';

/** A move of the payment, fields to correct, the address of another step, or the way back to the shop. */
export type Decision =
  | { does: 'complete' | 'authorize' }
  | { does: 'fail'; reason: FailureReason | undefined }
  | { does: 'ask-again'; errors: Record<string, string> }
  | { does: 'go-on'; to: string }
  | { does: 'leave' };

const decline = (reason: string): Decision => ({ does: 'fail', reason: DECLINES[reason]?.reason });

/** The acts by the value of their button. */
export const ACTS: Readonly<Record<string, (view: View) => Decision>> = {
  pay: () => ({ does: 'complete' }),
  authorize: () => ({ does: 'authorize' }),
  decline: ({ input }) => decline(input.get('reason') ?? ''),
  expire: () => decline('not-funded'),
  abandon: () => ({ does: 'leave' }),
  card(view) {
    const read = readCard(view);
    if ('errors' in read) return { does: 'ask-again', errors: read.errors };
    if (read.card.decline) return decline(read.card.decline);
    return { does: read.card.isAuthorizedOnly ? 'authorize' : 'complete' };
  },
  blik(view) {
    const read = readCode(view);
    if ('errors' in read) return { does: 'ask-again', errors: read.errors };
    return read.decline ? decline(read.decline) : { does: 'go-on', to: addressOf(view, { step: 'confirm' }) };
  },
};
