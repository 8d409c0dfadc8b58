// The CommonJS build in a merchant's app.
const play = require('./play.cjs');

play({
  sdk: require('payment-gateway-sdk'),
  otel: require('payment-gateway-sdk/otel'),
  mysql: require('payment-gateway-sdk/mysql'),
  postgres: require('payment-gateway-sdk/postgres'),
  sandbox: require('payment-gateway-sdk/sandbox'),
  testing: require('payment-gateway-sdk/testing'),
}).catch(error => {
  console.error(error);
  process.exitCode = 1;
});
