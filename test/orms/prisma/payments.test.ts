// Prisma over `@prisma/adapter-pg`, as docs/databases.md has it.
import { PrismaPg } from '@prisma/adapter-pg';
import { fromPrisma, postgresStore } from 'payment-gateway-sdk/postgres';
import { proveShop } from '../shop.ts';
import { PrismaClient } from './generated/client.ts';

// Prisma ignores the search path, so its adapter gets the schema by name.
const schema = process.env.DATABASE_SCHEMA ?? 'public';
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }, { schema }) });

proveShop('Prisma', {
  store: postgresStore(fromPrisma(prisma), { scope: 'eu-terminal' }),
  onPaid: ({ order = '' }, { tx }) => tx.order.update({ where: { id: order }, data: { paid: true } }),
  transaction: work => prisma.$transaction(work),
  place: (tx, id) => tx.order.create({ data: { id } }),
  orders: () => prisma.order.findMany(),
  close: () => prisma.$disconnect(),
});
