// `pharos holds dns`: removals of records and zones that wait for approval, decided by the operator.
import { parseArgs } from 'node:util'
import type { ZoneHold } from '@pharos/contract/zone-hold'
import { decideZoneHoldAs, listZoneHolds } from '../dns/publish/zone-hold.ts'
import { UsageError, type CommandContext } from './command.ts'
import { parseInteger, parseOneArgument } from './parse-arguments.ts'
import { withSchema } from './ready.ts'

const listed = 100

/** Runs `pharos holds dns <verb>`. */
export async function runDnsHolds(
  context: CommandContext,
  [verb, ...args]: readonly string[],
): Promise<void> {
  if (verb === 'list') return list(context, args)
  if (verb === 'approve') return decide(context, args, 'approved')
  if (verb === 'reject') return decide(context, args, 'rejected')
  throw new UsageError(
    verb === undefined ? 'Add list, approve or reject.' : `pharos holds dns has no command ${verb}.`,
  )
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }) => {
    const query = { state: ['open' as const], ordering: '-id', limit: listed, offset: 0 }
    const { results, count } = await listZoneHolds({ db: owner }, null, query)
    for (const hold of results) context.out(described(hold))
    if (count === 0) context.out('No holds are open.\n')
    if (count > results.length) context.out(`${count - results.length} more\n`)
  })
}

const described = ({ id, kind, zone, state, reason, detail, created, removals, ...hold }: ZoneHold): string =>
  `hold ${id}  ${zone?.name ?? 'catalog zone'}  ${kind}  ${state}  ${created}  ${reason}  ${hold.removal_count} removals\n` +
  `  ${detail}\n${removals.map((one) => `  ${one}\n`).join('')}`

async function decide(
  context: CommandContext,
  args: readonly string[],
  decision: 'approved' | 'rejected',
): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const text = parseOneArgument(positionals, 'the id of a hold: pharos holds dns list')
  const id = parseInteger('id', text, 1, 2 ** 31 - 1)
  await withSchema(context, async ({ owner }) => {
    context.out(described(await decideZoneHoldAs({ db: owner }, { actor: 'operator' }, id, decision)))
  })
}
