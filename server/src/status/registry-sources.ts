// The registry sources for staff: reports of all running processes, and the sources of this process without a report.
import { registryStates, type RegistrySource, type RegistryState } from '@pharos/contract/operator/team'
import type { Db } from '../db/postgres.ts'
import type { Irr } from '../registry/irr.ts'
import type { Rpki } from '../registry/rpki.ts'
import { listRegistryReports, type RegistryReport, type ReportedRegistry } from './status.store.ts'

/** The registries as this process sees them. */
export type RegistryViews = { readonly rpki: Rpki; readonly irr: Irr }

/** Returns the sources of this process, as it reports them. */
export function readRegistries({ rpki, irr }: RegistryViews): RegistryReport[] {
  return [
    ...rpki.status().sources.map(({ name, state, suspicious, asOf, problem, disagreement, vrps }) => ({
      kind: 'rpki' as const,
      name,
      ok: state === 'current',
      answered: asOf?.toISOString() ?? null,
      state: state !== 'current' ? ('down' as const) : suspicious ? ('suspicious' as const) : ('up' as const),
      error: problem ?? disagreement,
      doubt: suspicious ? problem : disagreement,
      records: vrps,
      serial: null,
    })),
    ...irr.status().map(({ name, state, lastAnswered, error, serial, problems }) => ({
      kind: 'irr' as const,
      name,
      ok: state !== 'down',
      answered: lastAnswered?.toISOString() ?? null,
      state,
      error: error ?? problems[0] ?? null,
      records: null,
      serial,
    })),
  ]
}

/**
 * Returns one row for each source: the worst state, and the newest of everything else. A process of an older version reports
 * no state, which is read as up or down.
 */
export function mergeReports(
  configured: readonly Pick<RegistryReport, 'kind' | 'name'>[],
  reports: readonly ReportedRegistry[],
): RegistrySource[] {
  const keyOf = ({ kind, name }: Pick<RegistryReport, 'kind' | 'name'>) => `${kind} ${name}`
  const byKey = Map.groupBy(reports, keyOf)
  const all = new Map([...configured, ...reports].map((source) => [keyOf(source), source]))
  return [...all].map(([key, { kind, name }]) => sourceOf(kind, name, byKey.get(key) ?? []))
}

/** From best to worst: an unknown source is no alarm, but hides no other state. */
const badness: readonly RegistryState[] = ['unknown', 'up', 'suspicious', 'down']

function sourceOf(
  kind: RegistryReport['kind'],
  name: string,
  reports: readonly ReportedRegistry[],
): RegistrySource {
  const newest = reports.toSorted((a, b) => b.seen.getTime() - a.seen.getTime())
  const states = newest.map(({ state, ok }) => state ?? (ok ? 'up' : 'down'))
  const state = states.toSorted((a, b) => badness.indexOf(b) - badness.indexOf(a))[0] ?? 'unknown'
  const first = <T>(read: (report: ReportedRegistry) => T | null | undefined): T | null =>
    newest.map(read).find((value) => value !== null && value !== undefined) ?? null
  return {
    kind,
    name,
    state: registryStates.includes(state) ? state : 'unknown',
    last_answer:
      newest
        .flatMap(({ answered }) => answered ?? [])
        .toSorted()
        .at(-1) ?? null,
    last_error: first(({ error }) => error),
    records: first(({ records }) => records),
    serial: first(({ serial }) => serial),
    processes: newest.length,
    reported: newest[0]?.seen.toISOString() ?? null,
  }
}

export type RegistryDeps = RegistryViews & { readonly db: Db }

export async function listRegistries({ db, ...views }: RegistryDeps): Promise<{ sources: RegistrySource[] }> {
  return { sources: mergeReports(readRegistries(views), await listRegistryReports(db)) }
}
