// The route of an operators' page: GET returns the doubts and reviews as JSON, POST settles or closes one. Protect it with
// your back office's sign-in and against cross-site requests. Put it before express.json(), because it reads the body
// itself: app.use('/payments', toNodeHandler(openAdminRoute(…))).
import { type GatewayClient, isGatewayError, type SettleOptions } from 'payment-gateway-sdk';

/** An operator's decision. */
interface Decision {
  /** Settles a doubt: its reference, with the id that the gateway's support has named, or `not_created`. */
  reference?: string;
  paymentId?: string;
  /** The differences that the operator has checked. */
  despite?: SettleOptions['despite'];
  /** Closes a review: its id and status. */
  review?: string;
  status?: string;
}

const NO_BODY = 'The body is empty, or other code has read it: put the route before express.json().';
const UNCLEAR = 'Send { reference, paymentId } for a doubt, or { review, status }.';

/** The errors that an operator can act on. */
const REFUSALS = ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'];

/** @param operatorOf returns the operator's name if they may decide about money */
export const openAdminRoute =
  (
    gateway: Pick<GatewayClient, 'doubts' | 'reviews' | 'settle' | 'resolveReview'>,
    operatorOf: (request: Request) => string | undefined | Promise<string | undefined>,
  ) =>
  async (request: Request): Promise<Response> => {
    const operator = await operatorOf(request);
    if (!operator) return Response.json({ error: 'Sign in.' }, { status: 401 });
    try {
      if (request.method === 'POST') {
        if (!request.body) return Response.json({ error: NO_BODY }, { status: 400 });
        const decision: Decision = (await request.json().catch(() => null)) ?? {};
        const { reference, paymentId, despite = [], review, status } = decision;
        if (reference && paymentId) await gateway.settle(reference, paymentId, { despite });
        else if (review && status) await gateway.resolveReview(review, status);
        else return Response.json({ error: UNCLEAR }, { status: 400 });
        console.log('An operator has decided.', { operator, ...decision });
      } else if (request.method !== 'GET') {
        return Response.json({ error: 'GET or POST.' }, { status: 405 });
      }
      return Response.json({ doubts: await gateway.doubts(), reviews: await gateway.reviews() });
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // 409: the message names the differences or the wait. 502: the gateway or the store failed.
      const status = REFUSALS.includes(error.name) ? 409 : 502;
      return Response.json({ error: error.message, code: error.code }, { status });
    }
  };
