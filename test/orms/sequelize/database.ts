// The database, the model of an order, and what lets the stores use Sequelize.
import type { SqlDatabase, SqlQuery, SqlRow } from 'payment-gateway-sdk/postgres';
import { DataTypes, QueryTypes, Sequelize, Transaction } from 'sequelize';

const MOST_CONNECTIONS = 10;

export const sequelize = new Sequelize(process.env.DATABASE_URL ?? '', {
  logging: false,
  pool: { max: MOST_CONNECTIONS },
});

export const Order = sequelize.define(
  'Order',
  {
    reference: { type: DataTypes.TEXT, primaryKey: true },
    amount: DataTypes.DECIMAL,
    paidBy: { type: DataTypes.UUID, field: 'paid_by' },
  },
  { tableName: 'orders', timestamps: false },
);

export function fromSequelize(sequelize: Sequelize): SqlDatabase<Transaction> {
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
    pool: { identity: sequelize, max: MOST_CONNECTIONS },
    query: queryIn(null),
    queryIn,
    transaction: work => sequelize.transaction({ isolationLevel }, tx => work(tx, queryIn(tx))),
  };
}
