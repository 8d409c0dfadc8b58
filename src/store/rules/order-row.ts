// An order's row: how often it was tried, what it costs now, and which payment has paid it.
import type { StoreRow } from '../contract.ts';

export interface OrderData {
  /** The newest amount, a plain decimal. Absent for an order that was canceled before its first attempt. */
  amount?: string | undefined;
  currency?: string | undefined;
  /** The number of attempts. Each has the reference `<order>.<n>`. */
  attempts: number;
  isCanceled?: boolean | undefined;
  /** The payment that pays it. Null after a reversal. */
  paidBy?: string | null | undefined;
}

export const orderDataOf = (row: StoreRow): OrderData => row.data as OrderData;

export function newOrder(id: string, data: OrderData = { attempts: 0 }): StoreRow {
  return { kind: 'order', id, state: 'order', revision: 0, begunAt: 0, data };
}
