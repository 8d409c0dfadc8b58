// What the apps of these consumers have in common: a request, and a record of its payment.
export const request = {
  ...{ paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' },
  webhookUrl: 'https://shop.example/callbacks',
};
export const id = '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10';
export const record = { id, paymentStatus: 'PENDING', paymentType: 'DEPOSIT', amount: 25.5, currency: 'EUR' };
