// What the page's handler cannot book is on the list of what a person must look at.
import { proveListed } from '../../support/orm-listed.ts';
import { pool } from './database.ts';
import { openPayments } from './payments.ts';

proveListed(openPayments, {
  end: () => pool.end(),
});
