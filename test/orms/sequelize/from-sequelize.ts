// What lets the stores use Sequelize, which has no adapter of ours.
import type { SqlDatabase, SqlQuery, SqlRow } from 'payment-gateway-sdk/postgres';
import { QueryTypes, type Sequelize, Transaction } from 'sequelize';

/** @param max how many connections its pool has */
export function fromSequelize(sequelize: Sequelize, max = 5): SqlDatabase<Transaction> {
  const queryIn =
    (transaction: Transaction | null): SqlQuery =>
    async (sql, values = []) => {
      // As RAW, it answers the rows of whatever statement.
      const options = { bind: [...values], transaction, type: QueryTypes.RAW };
      const [rows] = (await sequelize.query(sql, options)) as [unknown, unknown];
      return Array.isArray(rows) ? (rows as SqlRow[]) : [];
    };
  const { READ_COMMITTED: isolationLevel } = Transaction.ISOLATION_LEVELS;
  return {
    dialect: 'postgres',
    pool: { identity: sequelize, max },
    query: queryIn(null),
    queryIn,
    transaction: work => sequelize.transaction({ isolationLevel }, tx => work(tx, queryIn(tx))),
  };
}
