// A page for operators: GET lists what is in doubt, POST settles one. Put it behind the sign-in of your back office.
import { type Difference, type GatewayClient, isGatewayError } from 'payment-gateway-sdk';

/** What an operator posts: the id that the gateway's support has named, or `not_created`. */
interface Settlement {
  reference: string;
  paymentId: string;
  /** What differs, once the operator has seen it. */
  despite?: Difference[];
}

/** @param isOperator whether who asks may settle doubts: they decide whether money is paid again */
export const openAdminRoute =
  (gateway: GatewayClient, isOperator: (request: Request) => boolean | Promise<boolean>) =>
  async (request: Request): Promise<Response> => {
    if (!(await isOperator(request))) return Response.json({ error: 'not signed in' }, { status: 401 });
    if (request.method === 'GET') return Response.json(await gateway.inDoubt());
    const { reference, paymentId, despite = [] } = (await request.json()) as Settlement;
    try {
      await gateway.settle(reference, paymentId, { despite });
      return Response.json(await gateway.find(reference));
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // The message says what differs, or until when to wait.
      return Response.json({ error: error.message, code: error.code }, { status: 409 });
    }
  };
