// The database, and the model of an order. A table beside it, to_check (payment_id uuid, status text), has the payments which a
// person must look at.
import { DataTypes, Sequelize } from 'sequelize';

export const sequelize = new Sequelize(process.env.DATABASE_URL ?? '', {
  logging: false,
  pool: { max: 10 },
});

export const Order = sequelize.define(
  'Order',
  {
    reference: { type: DataTypes.TEXT, primaryKey: true },
    amount: DataTypes.DECIMAL,
    currency: DataTypes.TEXT,
    paidBy: { type: DataTypes.UUID, field: 'paid_by' },
  },
  { tableName: 'orders', timestamps: false },
);
