// For a page of operators: GET answers what is in doubt as JSON, POST settles one. Put it behind the sign-in of your back
// office, with its protection against requests of other sites, and before express.json(), as it reads the body itself:
// app.use('/doubts', toNodeHandler(openAdminRoute(…))).
import { type Difference, type GatewayClient, isGatewayError, type WebhookHandler } from 'payment-gateway-sdk';

/** What an operator posts: the id that the gateway's support has named, or `not_created`. */
interface Settlement {
  reference: string;
  paymentId: string;
  /** What differs, once the operator has seen it. */
  despite?: Difference[];
}

const NO_BODY = 'There is no body, or something has read it before this route: put the route before express.json().';

/** What the operator can do something about. */
const REFUSALS = ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'];

/**
 * @param operatorOf the name of who asks, if they may settle doubts: they decide whether money is paid again
 * @param handler lets a payment that was settled take effect at once; without it the next callback or sweep does
 */
export const openAdminRoute =
  (
    gateway: GatewayClient,
    operatorOf: (request: Request) => string | undefined | Promise<string | undefined>,
    handler?: WebhookHandler,
  ) =>
  async (request: Request): Promise<Response> => {
    const operator = await operatorOf(request);
    if (!operator) return Response.json({ error: 'Sign in.' }, { status: 401 });
    try {
      if (request.method === 'GET') return Response.json(await gateway.inDoubt());
      if (request.method !== 'POST') return Response.json({ error: 'GET or POST.' }, { status: 405 });
      if (!request.body) return Response.json({ error: NO_BODY }, { status: 400 });
      const settlement = (await request.json().catch(() => null)) as Partial<Settlement> | null;
      const { reference, paymentId, despite = [] } = settlement ?? {};
      if (!reference || !paymentId) return Response.json({ error: 'Which reference and paymentId?' }, { status: 400 });
      await gateway.settle(reference, paymentId, { despite });
      console.log('A doubt was settled.', { operator, reference, paymentId, despite });
      // It is settled, whatever becomes of this: if it fails, the next sweep does it.
      if (paymentId !== 'not_created') await handler?.process(paymentId).catch(console.error);
      return Response.json(await gateway.find(reference));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // Refused: the message says what differs, or until when to wait. Else the gateway or the journal failed.
      const status = REFUSALS.includes(error.name) ? 409 : 502;
      return Response.json({ error: error.message, code: error.code }, { status });
    }
  };
