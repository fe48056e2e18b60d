// `pharos holds dns` and `pharos holds shield`: changes that wait for approval, decided by the operator.
import { counted } from '@pharos/contract/counted'
import { parseArgs } from 'node:util'
import type { ShieldHold } from '@pharos/contract/shield-hold'
import type { ZoneHold } from '@pharos/contract/zone-hold'
import { decideShieldHoldAs, listShieldHolds } from '../shield/shield-hold.ts'
import type { Db } from '../db/postgres.ts'
import { decideZoneHoldAs, listZoneHolds } from '../dns/publish/zone-hold.ts'
import type { HoldDecision } from '../hold/decide-hold.ts'
import { UsageError, type CommandContext } from './command.ts'
import { parseInteger, parseOneArgument } from './parse-arguments.ts'
import { withSchema } from './ready.ts'

/** The holds of an area as text. */
type Area = {
  readonly list: (db: Db) => Promise<{ readonly lines: readonly string[]; readonly count: number }>
  readonly decide: (db: Db, id: number, decision: HoldDecision, shown?: string) => Promise<string>
  /** Whether a decision names what the list has shown. */
  readonly hasEvidence: boolean
}

const query = { state: ['open' as const], ordering: '-id' as const, limit: 100, offset: 0 }
const operator = { actor: 'operator' }

const areas = {
  dns: {
    async list(db) {
      const { results, count } = await listZoneHolds({ db }, null, query)
      return { lines: results.map(zoneLines), count }
    },
    decide: async (db, id, decision, shown) =>
      zoneLines(await decideZoneHoldAs({ db }, operator, id, decision, shown)),
    hasEvidence: true,
  },
  shield: {
    async list(db) {
      const { results, count } = await listShieldHolds({ db }, null, query)
      return { lines: results.map(shieldLines), count }
    },
    decide: async (db, id, decision) => shieldLines(await decideShieldHoldAs({ db }, operator, id, decision)),
    // A hold of shield never changes.
    hasEvidence: false,
  },
} satisfies Record<string, Area>

function zoneLines({ zone, kind, removals, removal_count: count, evidence, ...hold }: ZoneHold): string {
  const size = `${counted(count, 'removal')}  evidence ${evidence}`
  return linesOf(hold, `${zone?.name ?? 'catalog zone'}  ${kind}`, size, removals)
}

function shieldLines({ prefix, scrubber, team, prefixes, ...hold }: ShieldHold): string {
  const subject = [
    prefix,
    scrubber === null ? 'all scrubbers' : `scrubber ${scrubber}`,
    team && `team ${team.name}`,
  ]
  return linesOf(hold, subject.filter(Boolean).join('  '), '', prefixes)
}

const linesOf = (
  {
    id,
    state,
    created,
    reason,
    detail,
  }: Pick<ZoneHold, 'id' | 'state' | 'created' | 'detail'> & { reason: string },
  subject: string,
  size: string,
  items: readonly string[],
): string =>
  `hold ${id}  ${subject}  ${state}  ${created}  ${reason}  ${size}`.trimEnd() +
  `\n  ${detail}\n${items.map((one) => `  ${one}\n`).join('')}`

/** Runs `pharos holds <area> <verb>`. */
export async function runAreaHolds(
  context: CommandContext,
  name: keyof typeof areas,
  [verb, ...args]: readonly string[],
): Promise<void> {
  const area: Area = areas[name]
  if (verb === 'list') return list(context, area, args)
  if (verb === 'approve') return decide(context, name, args, 'approved')
  if (verb === 'reject') return decide(context, name, args, 'rejected')
  throw new UsageError(
    verb === undefined ? 'Add list, approve or reject.' : `pharos holds ${name} has no command ${verb}.`,
  )
}

async function list(context: CommandContext, area: Area, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }) => {
    const { lines, count } = await area.list(owner)
    for (const line of lines) context.out(line)
    if (count === 0) context.out('No holds are open.\n')
    if (count > lines.length) context.out(`${count - lines.length} more\n`)
  })
}

async function decide(
  context: CommandContext,
  name: keyof typeof areas,
  args: readonly string[],
  decision: HoldDecision,
): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const area: Area = areas[name]
  const named = area.hasEvidence ? positionals.slice(0, 1) : positionals
  const text = parseOneArgument(named, `the id of a hold: pharos holds ${name} list`)
  const id = parseInteger('id', text, 1, 2 ** 31 - 1)
  const shown =
    named === positionals
      ? undefined
      : parseOneArgument(positionals.slice(1), `the evidence of the hold: pharos holds ${name} list`)
  await withSchema(context, async ({ owner }) => {
    context.out(await area.decide(owner, id, decision, shown))
  })
}
