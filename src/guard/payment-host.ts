/** Whoever moves money for others: what is sent there is a payment, by whatever tool. */
const processors =
  /(?:^|\.)(?:stripe|paypal|braintreegateway|braintree-api|adyen|squareup|square|checkout|wise|transferwise|revolut|mollie|razorpay|klarna|authorize|worldpay|gocardless|dwolla|plaid|coinbase|kraken|binance|venmo|payoneer|2checkout|paddle|chargebee|recurly|affirm)\.(?:com|net|org|io|co|eu|in)$/

export const isPaymentHost = (host: string): boolean => processors.test(host)
