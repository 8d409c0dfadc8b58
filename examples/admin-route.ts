// The route of an operators' page: GET returns the doubts as JSON, POST settles one. Protect it with your back office's
// sign-in and against cross-site requests. Put it before express.json(), because it reads the body itself:
// app.use('/doubts', toNodeHandler(openAdminRoute(…))).
import { type Difference, type GatewayClient, isGatewayError, type WebhookHandler } from 'payment-gateway-sdk';

/** An operator's decision: the id that the gateway's support has named, or `not_created`. */
interface Settlement {
  reference: string;
  paymentId: string;
  /** The differences that the operator has checked. */
  despite?: Difference[];
}

const NO_BODY = 'There is no body, or something has read it before this route: put the route before express.json().';

/** The errors that an operator can act on. */
const REFUSALS = ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'];

/**
 * @param operatorOf returns the operator's name if they may settle doubts: they decide whether money is paid again
 * @param handler applies a settled payment immediately. Without it, the next callback or sweep does
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
      // The doubt is already settled. If this fails, the next sweep processes the payment.
      if (paymentId !== 'not_created') await handler?.process(paymentId).catch(console.error);
      return Response.json(await gateway.find(reference));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // 409: the message names the differences or the wait. 502: the gateway or the journal failed.
      const status = REFUSALS.includes(error.name) ? 409 : 502;
      return Response.json({ error: error.message, code: error.code }, { status });
    }
  };
