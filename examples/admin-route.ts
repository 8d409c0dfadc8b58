// For a page of operators: GET answers what is in doubt as JSON, POST settles one. Put it behind the sign-in of your back
// office, with its protection against requests of other sites: app.use('/doubts', toNodeHandler(openAdminRoute(…))).
import { type Difference, type GatewayClient, isGatewayError } from 'payment-gateway-sdk';

/** What an operator posts: the id that the gateway's support has named, or `not_created`. */
interface Settlement {
  reference: string;
  paymentId: string;
  /** What differs, once the operator has seen it. */
  despite?: Difference[];
}

/** What the operator can do something about. */
const REFUSALS = ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'];

/** @param isOperator whether who asks may settle doubts: they decide whether money is paid again */
export const openAdminRoute =
  (gateway: GatewayClient, isOperator: (request: Request) => boolean | Promise<boolean>) =>
  async (request: Request): Promise<Response> => {
    if (!(await isOperator(request))) return Response.json({ error: 'Sign in.' }, { status: 401 });
    try {
      if (request.method === 'GET') return Response.json(await gateway.inDoubt());
      if (request.method !== 'POST') return Response.json({ error: 'GET or POST.' }, { status: 405 });
      const settlement = (await request.json().catch(() => null)) as Partial<Settlement> | null;
      const { reference, paymentId, despite = [] } = settlement ?? {};
      if (!reference || !paymentId) return Response.json({ error: 'Which reference and paymentId?' }, { status: 400 });
      await gateway.settle(reference, paymentId, { despite });
      console.log('A doubt was settled.', { reference, paymentId, despite }); // and by whom
      return Response.json(await gateway.find(reference));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // Refused: the message says what differs, or until when to wait. Else the gateway or the journal failed.
      const status = REFUSALS.includes(error.name) ? 409 : 502;
      return Response.json({ error: error.message, code: error.code }, { status });
    }
  };
