// The marks of an inbox, as an operator reads them: in Postgres a row each, in MySQL a row for each payment.

/** A status that has taken effect, or has begun to. */
export interface MarkRow {
  status: string;
  isBegun: boolean;
}

type Rows = (sql: string) => Promise<Record<string, unknown>[]>;

/** @param paymentId without it, those of all payments */
export async function readMarks(query: Rows, table: string, paymentId?: string): Promise<MarkRow[]> {
  const rows = await query(`select * from ${table}${paymentId ? ` where payment_id = '${paymentId}'` : ''}`);
  return rows.flatMap(({ status, handled_at, marks }) => {
    if (typeof marks !== 'string') return { status: String(status), isBegun: handled_at === null };
    return (JSON.parse(marks) as { status: string; begun?: true }[]).map(mark => ({
      status: mark.status,
      isBegun: mark.begun === true,
    }));
  });
}
