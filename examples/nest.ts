// NestJS: takes callbacks, and pays each order once.
import 'reflect-metadata';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  createWebhookHandler,
  GatewayClient,
  isFinal,
  isPaid,
  memoryInbox,
  type NodeRequest,
  type NodeResponse,
  toNodeHandler,
} from 'payment-gateway-sdk';

// PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
const handler = createWebhookHandler({
  gateway: new GatewayClient(),
  inbox: memoryInbox(), // in production postgresInbox(pool), and write with its tx
  onPayment: async payment => {
    if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) {
      console.log(`Order ${payment.reference} is paid.`);
    } else if (payment.paymentType === 'WITHDRAWAL' && isFinal(payment)) {
      console.log(`Payout ${payment.reference} is ${payment.paymentStatus}.`);
    }
  },
  onError: error => console.error(error),
});
const callbacks = toNodeHandler(handler);

@Controller('callbacks')
class CallbacksController {
  @Post()
  take(@Req() request: NodeRequest, @Res() response: NodeResponse) {
    return callbacks(request, response);
  }
}

@Module({ controllers: [CallbacksController] })
class ShopModule {}

// rawBody keeps the bytes beside Nest's own parsed body, for `verify`.
const app = await NestFactory.create(ShopModule, { rawBody: true, logger: ['error'] });
await app.listen(Number(process.env.PORT ?? 3000));
console.log('Listening on', app.getHttpServer().address());
