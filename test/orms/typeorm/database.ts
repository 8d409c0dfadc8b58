// The database, and the entity of an order.
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

export const dataSource = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL ?? '', entities: [Order] });
