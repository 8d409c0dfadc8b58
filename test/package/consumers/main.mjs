// The ESM build in a merchant's app.
import * as sdk from 'payment-gateway-sdk';
import * as mysql from 'payment-gateway-sdk/mysql';
import * as otel from 'payment-gateway-sdk/otel';
import * as postgres from 'payment-gateway-sdk/postgres';
import * as sandbox from 'payment-gateway-sdk/sandbox';
import * as testing from 'payment-gateway-sdk/testing';
import play from './play.cjs';

await play({ sdk, otel, mysql, postgres, sandbox, testing });
