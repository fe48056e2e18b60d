// `pharos holds`: withdrawals and changes that the reconciler does not apply without approval, decided by the operator.
import { parseArgs } from 'node:util'
import type { Hold, HoldDetails, HoldItem, HoldState } from '@pharos/contract/hold'
import { holdStates } from '@pharos/contract/hold'
import { decideAs, getHold, listHolds } from '../byoip/regions/hold.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { runAreaHolds } from './area-holds.ts'
import { withSchema } from './ready.ts'
import { parseOneArgument, parseList, parseInteger } from './parse-arguments.ts'

export const holds: Command = {
  name: 'holds',
  usage: `list [--region <slug,...>] [--state ${holdStates.join('|')}|all] [--limit <n>] [--json]
             show <id> [--json]
             approve <id>
             reject <id>
             dns list | approve <id> <evidence> | reject <id> <evidence>
             shield list | approve <id> | reject <id>`,
  summary: `list and decide changes that wait for approval

  list     the newest first; without --state those that are open
  show     one hold, with the team of each prefix and who asked for the withdrawal
  approve  applies the listed withdrawals and changes, and no others
  reject   keeps the routes announced as they are, and does not ask again for a day
  dns      the same for publications of DNS zones: what a hold lists is removed, or stays; a decision names the evidence
           that list shows, which changes with the hold
  shield   the same for shield rules: what a hold is about is applied, or the scrubbers stay as they are`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'list') return list(context, args)
    if (verb === 'show') return show(context, args)
    if (verb === 'approve') return decide(context, args, 'approved')
    if (verb === 'reject') return decide(context, args, 'rejected')
    if (verb === 'dns' || verb === 'shield') return runAreaHolds(context, verb, args)
    throw new UsageError(
      verb === undefined
        ? 'Add list, show, approve, reject, dns or shield.'
        : `pharos holds has no command ${verb}.`,
    )
  },
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  const { filter, json } = parseFilter(args)
  await withSchema(context, async ({ owner }) => {
    const { results, count } = await listHolds({ db: owner }, null, { ...filter, ordering: '-id', offset: 0 })
    if (json) return context.out(`${JSON.stringify({ results, count }, null, 2)}\n`)
    for (const hold of results) context.out(described(hold))
    if (count === 0) context.out('No holds match.\n')
    if (count > results.length) context.out(`${count - results.length} more: --limit\n`)
  })
}

function parseFilter(args: readonly string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      region: { type: 'string', multiple: true },
      state: text,
      limit: text,
      json: { type: 'boolean', default: false },
    },
  })
  const { region, state = 'open', limit = '100', json } = values
  if (state !== 'all' && !isState(state)) {
    throw new UsageError(`--state: ${state} is none of ${[...holdStates, 'all'].join(', ')}.`)
  }
  const filter = {
    ...(region === undefined ? {} : { region: parseList(region) }),
    ...(state === 'all' ? {} : { state: [state] }),
    limit: parseInteger('--limit', limit, 1, 1000),
  }
  return { filter, json }
}

function isState(word: string): word is HoldState {
  return (holdStates as readonly string[]).includes(word)
}

async function show(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const id = parseHoldId(positionals)
  await withSchema(context, async ({ owner }) => {
    const hold = await getHold({ db: owner }, null, id)
    context.out(values.json ? `${JSON.stringify(hold, null, 2)}\n` : describedInFull(hold))
  })
}

function parseHoldId(args: readonly string[]): number {
  return parseInteger('id', parseOneArgument(args, 'the id of a hold: pharos holds list'), 1, 2 ** 31 - 1)
}

async function decide(
  context: CommandContext,
  args: readonly string[],
  decision: 'approved' | 'rejected',
): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const id = parseHoldId(positionals)
  await withSchema(context, async ({ owner }) => {
    const hold = await decideAs({ db: owner }, { actor: 'operator' }, id, decision)
    context.out(described(hold))
  })
}

function described(hold: Hold): string {
  const prefixes = hold.withdrawals.map((prefix) => `  ${prefix}\n`).join('')
  return `${heading(hold)}${prefixes}${changesOf(hold)}`
}

const heading = ({ id, region, state, created, reason, detail }: Hold): string =>
  `hold ${id}  region ${region}  ${state}  ${created}  ${reason}\n  ${detail}\n`

const changesOf = ({ changes }: Hold): string =>
  changes.map(({ router, cidr, from, to }) => `  ${cidr}  on ${router}: ${from} -> ${to}\n`).join('')

function describedInFull(hold: HoldDetails): string {
  const more = hold.withdrawals.length - hold.items.length
  const rest = more > 0 ? `  and ${more} more: --json lists every prefix\n` : ''
  return `${heading(hold)}${hold.items.map(itemLine).join('')}${rest}${changesOf(hold)}`
}

function itemLine({ cidr, team, requested_by, requested_by_name, requested_at, action }: HoldItem): string {
  const who =
    requested_by === null
      ? 'no request found'
      : `${action} by ${requested_by_name ?? requested_by} at ${requested_at}`
  return `  ${cidr}  ${team === null ? 'no team' : `team ${team.name}`}  ${who}\n`
}
