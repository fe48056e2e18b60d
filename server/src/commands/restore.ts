// `pharos restore`: the differences between a restored database and the network, and the decisions about them.
import { counted } from '@pharos/contract/counted'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  actionsOfArea,
  restoreActions,
  restoreAreas,
  type Restore,
  type RestoreAction,
  type RestoreArea,
  type RestoreItem,
} from '@pharos/contract/operator/restore'
import { formatHead } from '../audit/head.ts'
import { findHead } from '../audit/seal.store.ts'
import type { Postgres } from '../db/postgres.ts'
import { decideDeps, informOf } from '../restore/parts.ts'
import { listMissingEntries, parseEntries, type CopiedEntry } from '../restore/compare-audit.ts'
import { closeRestoreAs, decideRestoreAs } from '../restore/decide.ts'
import { openRestore } from '../restore/gate.store.ts'
import { listRestoreItems, presentRestore } from '../restore/restore.ts'
import { findOpenRestore } from '../restore/restore.store.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { parseInteger, parseList, parseOneArgument } from './parse-arguments.ts'
import { withSchema } from './ready.ts'

const operator = { actor: 'operator' }

export const restore: Command = {
  name: 'restore',
  usage: `begin
             show [<area>] [--json]
             apply | adopt <area> [--items <id,...>]
             discard | send mails | deliveries
             close [--accept-uncompared]
             compare-audit <file>`,
  summary: `compare a restored database with the network, and decide

  begin    opens a restore by hand: nothing is sent until it is closed, and all sessions end
  show     the open restore, or the differences of an area: ${restoreAreas.join(', ')}
  apply    the database is right: the network is changed when the restore is closed
  adopt    the network is right: the database takes over what can be adopted
  discard  mails and deliveries that the backup had queued are not sent; this is the default
  send     they are sent once the restore is closed
  close    applies the decisions, and lets everything be sent again
  compare-audit  prints what a copy of the audit log has that the database lacks, such as revoked tokens:
           a file with one entry as JSON on each line, as GET /v3/audit returns them

  --items              ids of differences, as show prints them; by default all of the area
  --accept-uncompared  what could not be compared is applied as the database has it

  docs/operating/restore.md explains each step.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'begin') return begin(context, args)
    if (verb === 'show') return show(context, args)
    if (isAction(verb)) return decide(context, verb, args)
    if (verb === 'close') return close(context, args)
    if (verb === 'compare-audit') return compareAudit(context, args)
    throw new UsageError(
      verb === undefined
        ? 'Add begin, show, apply, adopt, discard, send, close or compare-audit.'
        : `pharos restore has no command ${verb}.`,
    )
  },
}

const isAction = (word: string | undefined): word is RestoreAction =>
  (restoreActions as readonly (string | undefined)[]).includes(word)

async function begin(context: CommandContext, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }, config) => {
    const head = await findHead(owner)
    const evidence = { known_head: null, found_head: head ? formatHead(head) : null }
    const opened = await openRestore(
      owner,
      { reason: 'by_hand', evidence, actor: operator.actor },
      informOf(config),
    )
    if (opened === undefined) throw new CommandFailure('A restore is open already: pharos restore show')
    context.out(`Restore ${opened} is open. Nothing is sent until you run pharos restore close.\n`)
  })
}

async function requireOpen({ owner }: Postgres): Promise<Restore> {
  const row = await findOpenRestore(owner)
  if (!row) throw new CommandFailure('No restore is open.')
  return presentRestore(row)
}

async function show(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const area = positionals.length > 0 ? parseArea(positionals) : undefined
  await withSchema(context, async (postgres) => {
    const open = await requireOpen(postgres)
    if (area === undefined) return context.out(values.json ? json(open) : described(open))
    const items = await listAllItems(postgres, open.id, area)
    context.out(values.json ? json(items) : items.map(itemLine).join('') || 'No differences.\n')
  })
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const pageSize = 1000

async function listAllItems({ owner }: Postgres, id: number, area: RestoreArea): Promise<RestoreItem[]> {
  const items: RestoreItem[] = []
  for (;;) {
    const slice = { limit: pageSize, offset: items.length, ordering: 'subject' as const }
    const { results } = await listRestoreItems({ db: owner }, null, id, { area: [area], ...slice })
    items.push(...results)
    if (results.length < pageSize) return items
  }
}

function parseArea(args: readonly string[]): RestoreArea {
  const text = parseOneArgument(args, `an area: ${restoreAreas.join(', ')}`)
  const area = restoreAreas.find((one) => one === text)
  if (!area) throw new UsageError(`${text} is none of ${restoreAreas.join(', ')}.`)
  return area
}

async function decide(
  context: CommandContext,
  action: RestoreAction,
  args: readonly string[],
): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { items: { type: 'string', multiple: true } },
    allowPositionals: true,
  })
  const area = parseArea(positionals)
  if (!actionsOfArea[area].includes(action))
    throw new UsageError(`Differences of ${area} are decided by ${actionsOfArea[area].join(' or ')}.`)
  const items = values.items && parseList(values.items).map((id) => parseInteger('--items', id, 1, 1e15))
  await withSchema(context, async (postgres) => {
    const { id } = await requireOpen(postgres)
    const decision = { area, action, ...(items ? { items } : {}) }
    context.out(described(await decideRestoreAs({ db: postgres.owner }, operator, id, decision)))
  })
}

async function close(context: CommandContext, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { 'accept-uncompared': { type: 'boolean', default: false } },
  })
  await withSchema(context, async (postgres, config) => {
    const { id } = await requireOpen(postgres)
    const deps = decideDeps(config, postgres, postgres.owner)
    const closing = { accept_uncompared: values['accept-uncompared'] }
    await closeRestoreAs(deps, operator, id, closing)
    context.out(`Restore ${id} is closed. Everything is sent again.\n`)
  })
}

async function compareAudit(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const entries = readEntries(parseOneArgument(positionals, 'a file of entries'))
  await withSchema(context, async ({ owner }) => {
    const { missing, expired } = await listMissingEntries(owner, entries)
    for (const { at, action, target, label, actor, effect } of missing) {
      context.out(`${at}  ${action}  ${target}${label === undefined ? '' : ` (${label})`}  by ${actor}\n`)
      if (effect !== undefined) context.out(`  ${effect}\n`)
    }
    if (expired > 0)
      context.out(`${counted(expired, 'entry was', 'entries were')} deleted by the retention.\n`)
    context.out(`Not in the database: ${missing.length} of ${counted(entries.length, 'entry', 'entries')}.\n`)
  })
}

function readEntries(path: string): CopiedEntry[] {
  try {
    return parseEntries(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CommandFailure(`${path}: ${(error as Error).message}`)
  }
}

function described({ id, state, detail, detected, areas, sources, known_head, found_head }: Restore): string {
  const lines = [
    `restore ${id}  ${state}  ${detected}`,
    `  ${detail}`,
    ...(known_head === null
      ? []
      : [`  remembered ${known_head}`, `  found      ${found_head ?? 'no entry'}`]),
    ...areas.map(
      ({ area, items, undecided, adoptable }) =>
        `  ${area}  ${counted(items, 'difference')}, ${undecided} undecided, of which ${adoptable} can be adopted`,
    ),
    ...sources.map(({ area, name, compared, problem }) =>
      compared === null
        ? `  ${area} of ${name}  not compared: ${problem ?? 'waiting'}`
        : `  ${area} of ${name}  compared ${compared}${problem === null ? '' : `, then: ${problem}`}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function itemLine({ id, source, subject, kind, team, database, network, decision, adoptable }: RestoreItem) {
  const side = (value: object | null) => (value === null ? 'nothing' : JSON.stringify(value))
  const owner = team === null ? 'no team' : `team ${team.name}`
  const state = decision ?? (adoptable ? 'undecided' : 'undecided, cannot be adopted')
  return `${id}  ${source}  ${subject}  ${kind}  ${owner}  ${state}\n  database ${side(database)}\n  network  ${side(network)}\n`
}
