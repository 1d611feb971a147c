/** True for the payment id of what was not paid (grants, trials): the API has zeros there. */
export function isUnpaid(paymentId: string): boolean {
  return /^0+$/.test(paymentId)
}
