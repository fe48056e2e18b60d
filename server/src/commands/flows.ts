// `pharos flows`: the exporters that have sent flows, the parts of them that the inventory lacks, and flows sent by two
// exporters; assigns unowned past traffic to the team that has its prefix now.
import { counted } from '@pharos/contract/counted'
import { parseArgs } from 'node:util'
import {
  beginDays,
  ClaimUnsettled,
  findClaimTarget,
  finishDay,
  listBegunDays,
  listClaimableDays,
  type ClaimDay,
  type PeerClaimDeps,
} from '../flow/claim.ts'
import { listExporterAddresses, listSeenExporters, type SeenExporter } from '../collector/exporter.store.ts'
import { readSharedFlows } from '../flow/shared-flows.ts'
import { writeAudit } from '../db/audit.ts'
import { Leadership } from '../db/leadership.ts'
import type { Postgres } from '../db/postgres.ts'
import { isDefaultRoute, parsePrefix, type Prefix } from '../net/prefix.ts'
import { openFlowStore } from '../flow/parts.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { createLog } from '../runtime/log.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { findTeamId, listAllTeamSlugs } from '../session/operator-token.store.ts'
import { didYouMean } from '../text/did-you-mean.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'

export const flowsCommand: Command = {
  name: 'flows',
  usage: 'exporters | check | claim <prefix> --team <slug> [--yes]',
  summary: `list and compare the exporters of flows, or give past traffic to a team

  exporters  their devices, the interfaces that the inventory does not know, and records that cannot be right
  check      how many flows of a minute two exporters both sent
  claim      the traffic of a prefix that nobody held when it was received becomes that of the team that holds it now; without
             --yes it is only counted, by day. Days that have not ended wait: run it again the day after.`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'exporters') return list(context, args)
    if (verb === 'check') return check(context, args)
    if (verb === 'claim') return claim(context, args)
    throw new UsageError(
      verb === undefined ? 'Add exporters, check or claim.' : `pharos flows has no command ${verb}.`,
    )
  },
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }) => {
    const exporters = await listSeenExporters(owner)
    if (exporters.length === 0) context.out('No exporter has sent flows yet.\n')
    for (const exporter of exporters) {
      const { address, device, last_seen: lastSeen, unknown_interfaces: unknownInterfaces } = exporter
      const unknown =
        unknownInterfaces.length > 0 ? `  unknown interfaces: ${unknownInterfaces.join(', ')}` : ''
      context.out(
        `${address}  ${device?.name ?? 'no device'}  last seen ${lastSeen.toISOString()}${unknown}\n`,
      )
      for (const line of findingLines(exporter)) context.out(`  ${line}\n`)
    }
  })
}

function findingLines(exporter: SeenExporter): string[] {
  const { implausible: record, ambiguous_rates: rates, several, longest_flow_seconds: longestFlow } = exporter
  const { unknown_internal: unknownInternal } = exporter
  const lines: string[] = []
  if (several)
    lines.push(
      'several exporters share this address: templates, sampling rates and sequence numbers are kept by source port',
    )
  if (unknownInternal.length > 0)
    lines.push(
      `internal interfaces of the platform file that no interface has: ${unknownInternal.join(', ')}; their flows are not left out`,
    )
  if (longestFlow !== null)
    lines.push(`flows of up to ${longestFlow} s in one record: set its active timeout to 60 s`)
  if (rates) lines.push(`one record has the sampling rates ${rates[0]} and ${rates[1]}`)
  if (record)
    lines.push(
      `last implausible record ${new Date(record.at * 1000).toISOString()}: ${counted(record.octets, 'octet')}, ` +
        `${counted(record.packets, 'packet')}, rate ${record.rate || 'unknown'}, interfaces ${record.in_if} to ${record.out_if}, ` +
        `${record.duration_ms} ms`,
    )
  return lines
}

const minuteMs = 60_000
/** Exporters report flows of a minute up to an active timeout later; they have the time of their receipt. */
const checkedMs = 3 * minuteMs

async function check(context: CommandContext, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }, config) => {
    const { store } = openFlowStore(config, [], { log: createLog(config), metrics: createMetrics() })
    const start = new Date(Math.floor((Date.now() - checkedMs) / minuteMs) * minuteMs)
    try {
      const { tuples, shared, pairs } = await readSharedFlows(store, start)
      const addresses = await listExporterAddresses(owner)
      context.out(
        `Flows with distinct addresses, ports and protocol from ${start.toISOString().slice(0, 16)} UTC on: ${tuples}, ` +
          `of two or more exporters: ${percent(shared, tuples)}\n`,
      )
      const nameOf = (id: number): string => addresses.get(id) ?? `exporter ${id}`
      for (const { a, b, shared: both, of } of pairs)
        context.out(
          `${nameOf(a)}  ${nameOf(b)}  both sent ${both}: ${percent(both, of)} of the exporter with fewer\n`,
        )
      if (pairs.length > 0)
        context.out(
          'Traffic between them counts double: name their interfaces towards each other as internal in the platform file.\n',
        )
    } catch (error) {
      if (error instanceof DriverError) throw new CommandFailure(`ClickHouse: ${error.message}.`)
      throw error
    } finally {
      await store.close()
    }
  })
}

const percent = (part: number, whole: number): string =>
  whole === 0 ? '0 %' : `${((100 * part) / whole).toFixed(1)} %`

async function claim(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { team: { type: 'string' }, yes: { type: 'boolean' } },
    allowPositionals: true,
  })
  const [text, ...rest] = positionals
  if (!text || !values.team || rest.length > 0) throw new UsageError('Name a prefix, and a team with --team.')
  const prefix = parseClaimed(text)
  await withSchema(context, async (postgres, config) => {
    const team = await requireHolder(context, postgres, values.team!, prefix)
    const { store } = openFlowStore(config, [], { log: createLog(config), metrics: createMetrics() })
    const leadership = new Leadership(postgres, 'flow-claim')
    try {
      const deps = { db: postgres.owner, store, now: () => new Date() }
      const days = await listClaimableDays(deps, team, prefix)
      for (const day of days) context.out(described(day))
      if (days.length === 0) context.out(`There is no traffic without a team in ${prefix}.\n`)
      if (!values.yes) {
        if (days.some(({ state }) => state === 'ready'))
          context.out(`Nothing was changed. --yes gives it to ${values.team}.\n`)
        return
      }
      if (!(await leadership.hold())) throw new CommandFailure('Another claim is running.')
      await apply(context, deps, postgres, { team, prefix })
    } catch (error) {
      if (error instanceof ClaimUnsettled) throw new CommandFailure(error.message)
      if (error instanceof DriverError)
        throw new CommandFailure(`ClickHouse: ${error.message}. Run the command again; it continues.`)
      throw error
    } finally {
      await leadership.release()
      await store.close()
    }
  })
}

function parseClaimed(text: string): Prefix {
  try {
    const prefix = parsePrefix(text)
    if (!isDefaultRoute(prefix)) return prefix
  } catch {
    // Answered below.
  }
  throw new UsageError(`${text} is not a prefix such as 192.0.2.0/24.`)
}

/** Returns the id of the team, if the prefix belongs to it. */
async function requireHolder(
  context: CommandContext,
  { owner }: Postgres,
  slug: string,
  prefix: Prefix,
): Promise<number> {
  const team = await findTeamId(owner, slug)
  if (team === undefined)
    throw new CommandFailure(`There is no team ${slug}${didYouMean(slug, await listAllTeamSlugs(owner))}.`)
  const { holding, others } = await findClaimTarget(owner, team, prefix)
  if (holding === undefined) throw new CommandFailure(`${slug} holds no prefix that covers ${prefix}.`)
  for (const other of others)
    context.out(`${other.team} holds ${other.prefix} too; claimed traffic goes to ${slug} only.\n`)
  return team
}

const reasons: Readonly<Record<ClaimDay['state'], string>> = {
  ready: '',
  open: '  not yet: the day must have ended an hour ago',
  incomplete: '  not any more: a part of the day is deleted',
}

const described = ({ day, rows, bytes, state }: ClaimDay): string =>
  `${day}  ${counted(rows, 'flow')}  ${counted(bytes, 'byte')}${reasons[state]}\n`

async function apply(
  context: CommandContext,
  deps: PeerClaimDeps,
  { owner }: Postgres,
  { team, prefix }: { readonly team: number; readonly prefix: Prefix },
): Promise<void> {
  // Interrupted claims first: their days would be counted twice otherwise.
  const finishAll = async () => {
    for (const begun of await listBegunDays(deps.store)) {
      await finishDay(deps, begun)
      context.out(`${begun.day}  ${begun.prefix} done\n`)
    }
  }
  await finishAll()
  const stillThere = (await listClaimableDays(deps, team, prefix)).filter(({ state }) => state === 'ready')
  if (stillThere.length === 0) return
  await writeAudit(owner, {
    teamId: team,
    actor: 'operator',
    action: 'traffic.claim',
    target: `prefix:${prefix}`,
    after: { prefix, days: stillThere.map(({ day, rows, bytes }) => ({ day, rows, bytes })) },
  })
  await beginDays(deps.store, team, prefix, stillThere)
  await finishAll()
}
