// The customer and the billing address of a creation request.
import * as z from 'zod';
import { otherSpelling } from './hints.ts';
import { publishRequest } from './objects.ts';
import type { BillingAddress, Customer } from './payment.ts';

/** Who pays, or is paid. The gateway's document shows these names but not their types. Further fields are allowed. */
export interface CustomerRequest
  extends Pick<Customer, 'firstName' | 'lastName' | 'email' | 'phone' | 'ipaddress' | 'dateOfBirth'> {
  /** The merchant's own id of the customer. */
  referenceId?: string | number | null | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: unlike unknown, it also takes a merchant's own interface
  [further: string]: any;
}

/** The address on the customer's bill. Every value may be null. Further fields are allowed. */
export interface BillingAddressRequest
  extends Pick<BillingAddress, 'address1' | 'city' | 'countryCode' | 'postalCode' | 'state'> {
  // biome-ignore lint/suspicious/noExplicitAny: as in CustomerRequest
  [further: string]: any;
}

/** A billing address with the country that Apple Pay demands. */
export interface ApplePayBillingAddress extends BillingAddressRequest {
  /** Two letters, as in `DE`. Apple Pay demands it. */
  countryCode: string;
}

const COUNTRY_CODE = { error: 'must be a two-letter country code' };
const countryCode = z.string(COUNTRY_CODE).regex(/^[A-Za-z]{2}$/, COUNTRY_CODE);

/** Text that may be left out, or null. */
export const optionalText = z.string({ error: 'must be a string' }).nullish();

const customerFields = {
  firstName: optionalText,
  lastName: optionalText,
  email: optionalText,
  phone: optionalText,
  ipaddress: optionalText,
  dateOfBirth: optionalText,
  referenceId: z.union([z.string(), z.number()], { error: 'must be a string or a number' }).nullish(),
};
const billingAddressFields = {
  address1: optionalText,
  city: optionalText,
  countryCode: countryCode.nullish(),
  postalCode: optionalText,
  state: optionalText,
};

/**
 * Names in other capitals are slips; any other unknown name may be one that the gateway knows. A function cannot be
 * written as JSON, and as `toJSON` would take the place of all that was checked.
 */
const ownFields = (fields: object) => (context: z.core.ParsePayload<object>) => {
  for (const [name, value] of Object.entries(context.value)) {
    const meant = otherSpelling(name, Object.keys(fields));
    const problem = typeof value === 'function' ? 'must not be a function' : meant && `did you mean "${meant}"?`;
    if (problem) context.issues.push({ code: 'custom', path: [name], message: problem, input: name });
  }
};

/** The schema of a {@link CustomerRequest}. */
export const customerRequestSchema = publishRequest<CustomerRequest>()(
  z.looseObject(customerFields).check(ownFields(customerFields)),
);
/** The schema of a {@link BillingAddressRequest}. */
export const billingAddressRequestSchema = publishRequest<BillingAddressRequest>()(
  z.looseObject(billingAddressFields).check(ownFields(billingAddressFields)),
);
/** As Apple Pay demands it. */
export const applePayBillingAddress = publishRequest<ApplePayBillingAddress>()(
  z
    .looseObject(
      { ...billingAddressFields, countryCode },
      { error: 'must be an object with a countryCode for Apple Pay' },
    )
    .check(ownFields(billingAddressFields)),
);
