// TypeORM over `pg`, as docs/databases.md has it.
import 'reflect-metadata';
import { fromTypeOrm, postgresStore } from 'payment-gateway-sdk/postgres';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { beforeAll } from 'vitest';
import { proveShop } from '../shop.ts';

@Entity({ name: 'orders' })
class Order {
  @PrimaryColumn('text')
  id!: string;

  @Column('boolean', { default: false })
  paid!: boolean;
}

const dataSource = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL ?? '', entities: [Order] });
beforeAll(() => dataSource.initialize().then(() => {}));

proveShop('TypeORM', {
  store: postgresStore(fromTypeOrm(dataSource), { scope: 'eu-terminal' }),
  onPaid: ({ order = '' }, { tx }) => tx.update(Order, { id: order }, { paid: true }),
  transaction: work => dataSource.transaction(work),
  place: (tx, id) => tx.insert(Order, { id }),
  orders: () => dataSource.manager.find(Order),
  close: () => dataSource.destroy(),
});
