// Hono on Node, also for Bun: takes callbacks with the handler of payments.ts. npm install hono @hono/node-server
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { handler } from './payments.js';

const app = new Hono();
app.post('/callbacks', ({ req }) => handler(req.raw));

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, address => console.log('Listening on', address));
