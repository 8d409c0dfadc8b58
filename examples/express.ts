// Express 5: takes callbacks, and pays each order once.
import express from 'express';
import { toNodeHandler } from 'payment-gateway-sdk';
import { openCallbacks } from './callbacks.js';

const app = express();
app.post('/callbacks', toNodeHandler(openCallbacks())); // before app.use(express.json()), if you ever set `verify`
app.use(express.json());

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log('Listening on', server.address());
});
