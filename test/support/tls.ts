// Certificates for servers of tests: see test/fixtures/tls.
import { readFileSync } from 'node:fs';
import tls from 'node:tls';

const read = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');

/** The authority that has signed all of them. */
export const authority = read('authority.crt');

/** Key and certificate of a server at 127.0.0.1, of a server of another name, or of a client. */
export const certificate = (name: 'server' | 'elsewhere' | 'client') => ({
  key: read(`${name}.key`),
  cert: read(`${name}.crt`),
});

const bare = (certificate: string) => certificate.replace(/\s/g, '');

/** The machine's own authorities. Another file of this process may have added ours. */
const machines = () => tls.getCACertificates('default').filter(one => bare(one) !== bare(authority));

/** From now on it counts in this process, beside the machine's own ones. Older runtimes that read this file lack the call. */
export const trustOurs = (): void => tls.setDefaultCACertificates([...machines(), authority]);

/** Files that share the process would take it for one of the machine's. */
export const distrustOurs = (): void => tls.setDefaultCACertificates(machines());
