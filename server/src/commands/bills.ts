// `pharos bills`: the closed bills that wait for a decision of the provider, and corrections.
import { parseArgs } from 'node:util'
import { correctBill, type Correction } from '../inventory/bill/correct-bill.ts'
import { listReviews } from '../inventory/bill/bill.store.ts'
import { UsageError, type Command } from './command.ts'
import { withSchema } from './ready.ts'

export const bills: Command = {
  name: 'bills',
  usage: 'review | correct <bill id> --reason <text> [--recount | --bps <n> | --octets <n>]',
  summary: `closed bills of services that need a decision, and their corrections

  review   bills of which more than 5 % of the samples are missing, and that nobody has decided on yet
  correct  adds a bill that replaces the old one, which stays. --recount calculates it from the samples and rules of the month as they are
           known now; --bps and --octets state the billed rate or bytes; without any, the figures are confirmed. The customer sees both bills and the
           reason, and gets the webhook service.billed.`,
  async run(context) {
    const { positionals, values } = parseArgs({
      args: [...context.args],
      options: {
        reason: { type: 'string' },
        recount: { type: 'boolean' },
        bps: { type: 'string' },
        octets: { type: 'string' },
      },
      allowPositionals: true,
    })
    const [action, id, ...rest] = positionals
    if (action === 'review' && id === undefined)
      return withSchema(context, async ({ owner }) => context.out(reviewText(await listReviews(owner))))
    if (action !== 'correct' || id === undefined || rest.length > 0)
      throw new UsageError('Name an action: review, or correct with the id of a bill.')
    const correction = correctionOf(id, values)
    return withSchema(context, async (postgres) => {
      const { bill_id, billable_bps, billable_octets } = await correctBill(
        { postgres, now: () => new Date() },
        correction,
      )
      const figure = billable_octets === null ? `${billable_bps ?? 'no'} bit/s` : `${billable_octets} bytes`
      context.out(`bill ${bill_id} replaces bill ${id}: ${figure}\n`)
    })
  },
}

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

const reviewText = (rows: Awaited<ReturnType<typeof listReviews>>): string =>
  rows.length === 0
    ? 'No bills need a decision.\n'
    : rows
        .map(
          ({ team, service, bill }) =>
            `bill ${bill.bill_id}  ${bill.period}  ${team}  ${service}  ${bill.name}: ${bill.missing_samples} of ` +
            `${bill.samples + bill.missing_samples} samples missing, ${bill.billable_bps ?? 'no'} bit/s\n`,
        )
        .join('')
