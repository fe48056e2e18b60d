// `pharos access-review`: who has rights in the installation, as CSV.
import { parseArgs } from 'node:util'
import { accessReviewFile } from '../status/access-review.ts'
import { UsageError, type Command } from './command.ts'
import { withSchema } from './ready.ts'

export const accessReview: Command = {
  name: 'access-review',
  usage: '[--unused-days <days>]',
  summary: `print who has rights as CSV: staff, members of teams and staff tokens

  --unused-days  only those without a known use for so many days, from 1 to 3650`,
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: { 'unused-days': { type: 'string' } },
    })
    const filters = parseDays(values['unused-days'])
    await withSchema(context, async ({ owner }) => context.out(await accessReviewFile(owner, filters)))
  },
}

function parseDays(text: string | undefined): { readonly unused_days?: number } {
  if (text === undefined) return {}
  const days = Number(text)
  if (!/^\d+$/.test(text) || days < 1 || days > 3650)
    throw new UsageError(`--unused-days takes a whole number from 1 to 3650, not ${text}.`)
  return { unused_days: days }
}
