// The months of bills, as people read and choose them. Pure.

const monthsShown = 12

export const pastMonths = (now: Date) =>
  Array.from({ length: monthsShown }, (_, back) => {
    const at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back - 1, 1))
    return { value: at.toISOString().slice(0, 7), label: monthText(at.toISOString().slice(0, 7)) }
  })

export const monthText = (month: string): string =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })

const halfMonthMs = 15 * 86_400_000

/** Returns the month of a bill as `2026-03`, whatever its time zone, and on whichever day near its first it begins. */
export const monthOfBill = ({ period_start: start }: { readonly period_start: string }): string =>
  new Date(Date.parse(start) + halfMonthMs).toISOString().slice(0, 7)
