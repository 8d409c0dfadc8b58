// Apple Pay and Google Pay: the shop's button, then an imitation of the device's payment sheet.
import { html } from 'hono/html';
import { money } from '../../money.ts';
import { icon } from './icons.ts';
import { addressOf, type Drawn, type Face, formOf, mainButton, methodOf, rows, type View } from './view.ts';

function draw(view: View): Drawn {
  const isApple = methodOf(view) === 'APPLEPAY';
  const name = isApple ? 'Apple Pay' : 'Google Pay';
  const look = isApple ? 'apple' : 'google';
  if (view.input.get('step') !== 'sheet') {
    return {
      body: html`<div class="express"><span class="seal">${icon('wallet')}</span><h2>${name}</h2>
      <p>Pay with the card in your wallet. You confirm on your device; the shop does not see your card number.</p>
      <a class="main wallet-${look}" href="${addressOf(view, { step: 'sheet' })}">Buy with ${name}</a>
      <p class="trust">${icon('lock')}Your device asks you before anything is charged.</p></div>`,
    };
  }
  return {
    body: html`<section class="sheet ${look}" aria-labelledby="sheet">
      <header><h2 id="sheet">${name}</h2><a class="close" href="${addressOf(view)}" aria-label="Close ${name}">${icon('cross')}</a></header>
      <div class="held"><span class="plastic" aria-hidden="true"></span><p><b>Test Visa</b><span dir="ltr">•••• 4242</span></p></div>
      ${rows({ Pay: view.shopName, Total: html`<b>${money(view.record)}</b>` })}
      ${
        isApple
          ? html`<p class="gesture">${icon('phone')}<span>Double-click the side button to pay</span></p>
            ${formOf(view, mainButton('Pay with passcode'))}`
          : formOf(view, mainButton(`Pay ${money(view.record)}`))
      }
    </section>`,
  };
}

export const wallet: Face = { draw, isAuthorizable: true };
