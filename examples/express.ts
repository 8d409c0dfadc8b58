// Express 5: takes callbacks with the handler of payments.ts. npm install express, and for TypeScript -D @types/express
import express from 'express';
import { toNodeHandler } from 'payment-gateway-sdk';
import { handler } from './payments.js';

const app = express();
app.post('/callbacks', toNodeHandler(handler)); // before app.use(express.json()), if you ever set `verify`
app.use(express.json());

const server = app.listen(Number(process.env.PORT ?? 3000), error => {
  if (error) throw error; // for example a busy port
  console.log('Listening on', server.address());
});
