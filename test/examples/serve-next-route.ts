// Serves the Next.js example as Next would: a web-standard request in, a web-standard response out.
import { serve } from '@hono/node-server';
import { POST } from '../../examples/next-route.ts';

serve({ fetch: POST, port: 0 }, address => console.log('Listening on', address));
