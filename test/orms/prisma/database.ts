// The database. Its tables, of orders and of payments which a person must look at, are in schema.prisma.
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';

// Prisma uses the schema of the database that its adapter is told, not the search path.
const schema = process.env.DATABASE_SCHEMA ?? 'public';
const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL }, { schema });

export const prisma = new PrismaClient({ adapter });
