// Amounts of money as text. Pure.

/** `4,250.00 EUR`: digits are grouped as text, since an amount is no binary fraction. */
export function moneyText(amount: string, currency: string): string {
  const [whole, fraction] = amount.split('.')
  const grouped = whole!.replaceAll(/\B(?=(\d{3})+$)/g, ',').replace('-', '−')
  return `${grouped}${fraction === undefined ? '' : `.${fraction}`} ${currency}`
}
