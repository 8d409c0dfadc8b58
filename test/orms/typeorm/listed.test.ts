// What the page's handler cannot book is on the list of what a person must look at.
import { proveListed } from '../../support/orm-listed.ts';
import { dataSource } from './database.ts';
import { openPayments } from './payments.ts';

proveListed(openPayments, {
  begin: () => dataSource.initialize(),
  end: () => dataSource.destroy(),
});
