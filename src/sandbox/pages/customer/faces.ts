// Chooses the page's face for each method.
import { bank } from './bank.ts';
import { blik } from './blik.ts';
import { card } from './card.ts';
import { onramp } from './onramp.ts';
import { transfer } from './transfer.ts';
import { type Face, methodOf, type View } from './view.ts';
import { wallet } from './wallet.ts';

const FACES: Readonly<Record<string, Face>> = {
  CARD: card,
  APPLEPAY: wallet,
  GOOGLEPAY: wallet,
  BLIK: blik,
  IDEAL: bank,
  BANCONTACT: bank,
  EPS: bank,
  P24: bank,
  OPENBANKING: bank,
  PSE: bank,
  KHIPU: bank,
  ZAR: bank,
  MULTIBANCO: transfer,
  PAYID: transfer,
  GBPBANKTRANSFER: transfer,
  SPEI: transfer,
  INTERAC: transfer,
  PIX: transfer,
  QRTHWALLET: transfer,
};

/** Returns the face. `ONRAMP` and `USER_CHOICE` leave the choice to the customer. */
export const faceOf = (view: View): Face => FACES[methodOf(view)] ?? onramp;
