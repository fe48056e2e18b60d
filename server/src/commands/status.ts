// `pharos status`: the state of the installation in one screen.
// Exit codes: 0 no problems, 1 something needs attention, 2 the state could not be determined.
import { parseArgs } from 'node:util'
import { pendingMigrations } from '../db/migrate.ts'
import type { Postgres } from '../db/postgres.ts'
import { queuesOf, readStatus, type Status } from '../status/status.ts'
import type { RegionStatus } from '../byoip/regions/router.ts'
import { ConfigError } from '../runtime/config.ts'
import { CommandFailure, UsageError, withPostgres, type Command, type CommandContext } from './command.ts'

const [attention, undetermined] = [1, 2]

export const status: Command = {
  name: 'status',
  usage: '[--json]',
  summary: `print the state of regions, routers, registries, processes, approvals and queues

Exit codes: 0 all is well, 1 something needs attention, 2 the state could not be determined, for example without the
database. docs/operating/status.md explains each line.`,
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: { json: { type: 'boolean', default: false } },
    })
    const read = await determine(context)
    context.out(
      values.json ? `${JSON.stringify({ ok: read.problems.length === 0, ...read }, null, 2)}\n` : print(read),
    )
    return read.problems.length > 0 ? attention : 0
  },
}

async function determine(context: CommandContext): Promise<Status> {
  try {
    return await withPostgres(context, async (postgres, config) => {
      await refusePending(postgres)
      return readStatus(postgres.owner, config)
    })
  } catch (error) {
    if (error instanceof UsageError || error instanceof ConfigError || error instanceof CommandFailure)
      throw error
    throw new CommandFailure(`The state could not be determined: ${(error as Error).message}`, undetermined)
  }
}

async function refusePending(postgres: Postgres): Promise<void> {
  const client = await postgres.directConnection()
  try {
    const pending = await pendingMigrations(client)
    if (pending.length > 0)
      throw new CommandFailure(
        `The database lacks ${pending.join(', ')}: run pharos migrate first.`,
        undetermined,
      )
  } finally {
    await client.end()
  }
}

function print(read: Status): string {
  const { problems, warnings } = read
  const blocks = [
    table(
      ['REGION', 'STATE', 'CHECKED', 'ROUTES', 'LEADER'],
      read.regions.map((one) => regionLine(one, read)),
    ),
    table(['ROUTER', 'STATE', 'SESSIONS', 'ROUTES'], read.regions.flatMap(routerLines)),
    table(
      ['SESSION DOWN', 'ROUTER', 'SINCE', 'REASON'],
      read.regions.flatMap((one) => downLines(one, read)),
    ),
    table(['REGISTRY', 'SOURCE', 'STATE', 'ANSWERED', 'PROCESS'], registryLines(read)),
    table(['FLOWS', 'STATE', 'SINCE', 'PROCESS'], flowStoreLines(read)),
    table(['PROCESS', 'ROLES', 'VERSION', 'UP', 'LOOPS'], processLines(read)),
    table(['APPROVAL', 'AREA', 'SUBJECT', 'REASON', 'CHANGES', 'OPEN'], approvalLines(read)),
    table(['IMPORT', 'STATE', 'SUCCEEDED'], importLines(read)),
    table(['PART', 'OK', 'FAILING', 'UNKNOWN', 'PAUSED'], partLines(read)),
    table(['RETENTION', 'LIMIT', 'BY'], retentionLines(read)),
    table(['QUEUE', 'WAITING', 'OLDEST'], lagLines(read)),
    problems.length === 0 ? 'No problems found.\n' : `Needs attention:\n${linesOf(problems)}`,
    warnings.length === 0 ? '' : `Warnings:\n${linesOf(warnings)}`,
  ]
  return blocks.filter((block) => block !== '').join('\n')
}

const linesOf = (all: readonly { readonly subject: string; readonly message: string }[]): string =>
  all.map(({ subject, message }) => `  ${subject}: ${message}\n`).join('')

/** Returns columns as wide as their widest cell; empty without rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const lines = [head, ...rows]
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)))
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function regionLine(
  { id, slug, last_check, last_check_result, desired, announced }: RegionStatus,
  { at, leaders, problems }: Status,
): string[] {
  const hasProblem = problems.some(({ code, subject }) => code.startsWith('region_') && subject === slug)
  const state = last_check_result === null ? 'unknown' : last_check_result && !hasProblem ? 'ok' : 'failed'
  const checked = last_check === null ? 'never' : ago(at, last_check)
  return [slug, state, checked, `${announced}/${desired}`, leaders.regions.includes(id) ? 'yes' : 'none']
}

function routerLines({ slug, routers }: RegionStatus): string[][] {
  return routers.map(({ name, last_check_result: isUp, drained, neighbors, routes }) => {
    const established = neighbors.filter(({ state }) => state === 'established').length
    const state = isUp === null ? 'unknown' : isUp ? 'up' : 'down'
    const shown = isUp ? `${established}/${neighbors.length}` : '-'
    return [`${slug}/${name}`, drained === null ? state : `${state}, drained`, shown, String(routes ?? '-')]
  })
}

function downLines({ slug, routers }: RegionStatus, { at }: Pick<Status, 'at'>): string[][] {
  const read = routers.filter(({ last_check_result: isUp }) => isUp)
  return read.flatMap(({ name, neighbors }) =>
    neighbors
      .filter(({ state }) => state !== 'established')
      .map(({ address, asn, since, end }) => [
        `${address} AS${asn}`,
        `${slug}/${name}`,
        since === null ? '-' : ago(at, since),
        end?.message ?? '-',
      ]),
  )
}

const registryLines = ({ at, processes }: Status): string[][] =>
  processes.flatMap(({ host, pid, registries }) =>
    registries.map(({ kind, name, ok, doubt, answered }) => [
      kind,
      name,
      ok ? (doubt ? 'doubtful' : 'ok') : 'down',
      answered === null ? 'never' : ago(at, answered),
      `${host}:${pid}`,
    ]),
  )

/** Processes that have not used it yet are not listed. */
const flowStoreLines = ({ at, processes }: Status): string[][] =>
  processes.flatMap(({ host, pid, flow_store: store }) =>
    store === null || store.since === null
      ? []
      : [[store.kind, store.state, ago(at, store.since), `${host}:${pid}`]],
  )

const processLines = ({ processes, problems }: Status): string[][] =>
  processes.map(({ host, pid, roles, version, uptime_seconds, loops }) => {
    const name = `${host}:${pid}`
    const late = problems.filter(
      ({ code, subject }) => code === 'loop_late' && subject.endsWith(` on ${name}`),
    ).length
    return [name, roles.join(','), version, span(uptime_seconds), `${loops.length - late}/${loops.length}`]
  })

const approvalLines = ({ at, approvals }: Status): string[][] =>
  approvals.map(({ id, area, subject, reason, item_count, created }) => [
    String(id),
    area,
    subject,
    reason,
    String(item_count),
    ago(at, created),
  ])

const importLines = ({ at, imports }: Status): string[][] =>
  imports.map(({ source, error, attempted, succeeded }) => [
    source,
    error !== null ? 'failed' : attempted > (succeeded ?? 0) ? 'needs approval' : 'ok',
    succeeded === null ? 'never' : ago(at, succeeded),
  ])

const retentionLines = ({ retention }: Status): string[][] =>
  retention.map(({ kind, limit, unit, is_set: isSet }) => [
    kind,
    limit === null ? 'none' : `${limit} ${unit}`,
    isSet ? 'setting' : 'default',
  ])

const lagLines = ({ lag }: Status): string[][] =>
  queuesOf(lag).map(({ name, waiting, oldest_seconds: seconds }) => [
    name,
    String(waiting),
    waiting === 0 ? '-' : span(seconds),
  ])

/** The parts that the installation has. Regions, routers and registries have tables of their own. */
const partLines = ({ parts }: Status): string[][] =>
  parts
    .filter(({ part }) => !['regions', 'routers', 'sessions', 'registries'].includes(part))
    .filter(({ ok, failing, unknown, paused }) => ok + failing + unknown + paused > 0)
    .map(({ part, ok, failing, unknown, paused }) => [
      part.replace('_', ' '),
      ...[ok, failing, unknown, paused].map(String),
    ])

const ago = (now: Date, then: string | Date): string =>
  `${span((now.getTime() - new Date(then).getTime()) / 1000)} ago`

function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 120) return `${whole} s`
  if (whole < 7200) return `${Math.floor(whole / 60)} min`
  return whole < 172_800 ? `${Math.floor(whole / 3600)} h` : `${Math.floor(whole / 86_400)} d`
}
