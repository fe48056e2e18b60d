// `pharos bills`: the closed bills of a month, bills that wait for a decision of the provider, and corrections.
import { parseArgs } from 'node:util'
import type { StaffBill } from '@pharos/contract/operator/bill'
import { listBillReviews } from '../inventory/bill/bill.store.ts'
import { correctBill, type Correction } from '../inventory/bill/correct-bill.ts'
import { billFile } from '../inventory/bill/staff-bill.ts'
import { listBillsOfMonth } from '../inventory/bill/staff-bill.store.ts'
import { UsageError, type Command } from './command.ts'
import { withSchema } from './ready.ts'

export const bills: Command = {
  name: 'bills',
  usage:
    'list [--period <month>] [--csv] | review | correct <bill id> --reason <text> [--recount | --bps <n> | --octets <n>]',
  summary: `closed bills of services, those that need a decision, and their corrections

  list     all bills of a month such as 2026-03, by default the last one (UTC), with those that were corrected. --csv: the file of
           GET /v3/admin/inventory/bills/csv
  review   bills of which more samples are missing than the percentile leaves out, and that nobody has decided on yet
  correct  adds a bill that replaces the old one, which stays. --recount calculates it from the samples and rules of the month as they are
           known now; --bps and --octets state the billed rate or bytes; without any, the figures are confirmed. The customer sees both bills, the
           reason and the difference as a credit note, and gets the webhook service.billed.`,
  async run(context) {
    const { positionals, values } = parseArgs({
      args: [...context.args],
      options: {
        period: { type: 'string' },
        csv: { type: 'boolean' },
        reason: { type: 'string' },
        recount: { type: 'boolean' },
        bps: { type: 'string' },
        octets: { type: 'string' },
      },
      allowPositionals: true,
    })
    const [action, id, ...rest] = positionals
    if (action === 'list' && id === undefined) {
      const period = monthOf(values.period)
      return withSchema(context, async ({ owner }) => {
        const listed = await listBillsOfMonth(owner, { period })
        context.out(values.csv ? billFile(listed) : listText(listed, period))
      })
    }
    if (action === 'review' && id === undefined)
      return withSchema(context, async ({ owner }) => context.out(reviewText(await listBillReviews(owner))))
    if (action !== 'correct' || id === undefined || rest.length > 0)
      throw new UsageError('Name an action: list, review, or correct with the id of a bill.')
    const correction = correctionOf(id, values)
    return withSchema(context, async (postgres) => {
      const corrected = await correctBill({ postgres, now: () => new Date() }, correction)
      context.out(`bill ${corrected.bill_id} replaces bill ${id}: ${figureText(corrected)}\n`)
    })
  },
}

/** The previous month in UTC by default. */
function monthOf(period: string | undefined): string {
  if (period === undefined) {
    const now = new Date()
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7)
  }
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(period)) throw new UsageError('--period is a month such as 2026-03.')
  return period
}

type Figures = Pick<StaffBill, 'billable_bps' | 'billable_octets' | 'price'>

/** `500 bit/s, 12.00 EUR`. */
const figureText = ({ billable_bps: bps, billable_octets: octets, price }: Figures): string =>
  `${octets === null ? `${bps ?? 'no'} bit/s` : `${octets} bytes`}${price ? `, ${price.amount ?? 'no amount in'} ${price.currency}` : ''}`

const listText = (listed: readonly StaffBill[], period: string): string =>
  listed.length === 0
    ? `No bills of ${period}.\n`
    : listed
        .map(
          (bill) =>
            `bill ${bill.bill_id}  ${bill.period}  ${bill.team ?? bill.team_id}  ${bill.service}  ${bill.name}: ${figureText(bill)}` +
            `${bill.corrects === null ? '' : `, corrects bill ${bill.corrects}`}` +
            `${bill.corrected_by === null ? '' : `, replaced by bill ${bill.corrected_by}`}\n`,
        )
        .join('')

type Values = { readonly [N in 'reason' | 'bps' | 'octets']?: string | undefined } & {
  readonly recount?: boolean | undefined
}

function correctionOf(id: string, { reason, recount, bps, octets }: Values): Correction {
  if (!reason?.trim()) throw new UsageError('A correction needs --reason: the customer reads it.')
  if ([recount, bps, octets].filter((one) => one !== undefined).length > 1)
    throw new UsageError('Choose one of --recount, --bps and --octets.')
  const to = recount
    ? 'recount'
    : bps !== undefined
      ? { bps: wholeNumber('--bps', bps) }
      : octets !== undefined
        ? { octets: wholeNumber('--octets', octets) }
        : 'confirm'
  return { billId: wholeNumber('The id of a bill', id), reason: reason.trim(), to }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new UsageError(`${name} is a whole number.`)
  return value
}

const reviewText = (rows: Awaited<ReturnType<typeof listBillReviews>>): string =>
  rows.length === 0
    ? 'No bills need a decision.\n'
    : rows
        .map(
          ({ team, service, bill }) =>
            `bill ${bill.bill_id}  ${bill.period}  ${team}  ${service}  ${bill.name}: ${bill.missing_samples} of ` +
            `${bill.samples + bill.missing_samples} samples missing, ${bill.billable_bps ?? 'no'} bit/s\n`,
        )
        .join('')
