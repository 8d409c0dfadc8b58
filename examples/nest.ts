// NestJS, in an ESM app: takes callbacks with the handler of payments.ts. A Nest app already has the packages.
import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { toNodeHandler } from 'payment-gateway-sdk';
import { handler } from './payments.js';

const callbacks = toNodeHandler(handler);

@Controller('callbacks')
class CallbacksController {
  @Post()
  take(@Req() request: IncomingMessage, @Res() response: ServerResponse) {
    return callbacks(request, response);
  }
}

@Module({ controllers: [CallbacksController] })
class ShopModule {}

// rawBody keeps the bytes next to Nest's parsed body, for `verify`.
const app = await NestFactory.create(ShopModule, { rawBody: true, logger: ['error'] });
await app.listen(Number(process.env.PORT ?? 3000));
console.log('Listening on', app.getHttpServer().address());
