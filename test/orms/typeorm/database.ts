// The database, and the entities of an order and of a payment which a person must look at.
import 'reflect-metadata';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'orders' })
export class Order {
  @PrimaryColumn('text')
  reference!: string;

  @Column('numeric')
  amount!: string;

  @Column('text')
  currency!: string;

  @Column('uuid', { name: 'paid_by', nullable: true })
  paidBy!: string | null;
}

@Entity({ name: 'to_check' })
export class ToCheck {
  @PrimaryColumn('uuid', { name: 'payment_id' })
  paymentId!: string;

  @PrimaryColumn('text')
  status!: string;
}

export const dataSource = new DataSource({
  type: 'postgres',
  url: process.env.DATABASE_URL ?? '',
  entities: [Order, ToCheck],
});
