// `pharos holds dns`: publications of zones that wait for approval, decided by the operator.
import { parseArgs } from 'node:util'
import { decideDnsHold, listDnsHolds, type DnsHold } from '../dns/publish/hold.ts'
import { CommandFailure, UsageError, type CommandContext } from './command.ts'
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
    const holds = await listDnsHolds(owner, 'open', listed)
    for (const hold of holds) context.out(described(hold))
    if (holds.length === 0) context.out('No holds are open.\n')
  })
}

const described = ({ id, kind, zone, reason, created, attrs }: DnsHold): string =>
  `hold ${id}  ${zone ?? 'catalog zone'}  ${kind}  ${reason}  ${created.toISOString()}  ${attrs.count} removals\n` +
  attrs.sets.map((set) => `  ${typeof set === 'string' ? set : JSON.stringify(set)}\n`).join('')

async function decide(
  context: CommandContext,
  args: readonly string[],
  decision: 'approved' | 'rejected',
): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const text = parseOneArgument(positionals, 'the id of a hold: pharos holds dns list')
  const id = parseInteger('id', text, 1, 2 ** 31 - 1)
  await withSchema(context, async ({ owner }) => {
    if (!(await decideDnsHold(owner, id, decision, 'operator')))
      throw new CommandFailure(`Hold ${id} is not open: pharos holds dns list shows those that are.`)
    context.out(`hold ${id} ${decision}\n`)
  })
}
