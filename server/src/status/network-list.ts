// The name servers, scrubbers and exporters of flows for staff: each with the state that the overview counts.
import type {
  Exporter,
  listExportersRoute,
  listNameServersRoute,
  listScrubbersRoute,
  NameServer,
  Scrubber,
} from '@pharos/contract/operator/network'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import {
  listExporterRows,
  listNameServerRows,
  listScrubberRows,
  type ExporterRow,
  type NameServerRow,
} from './network-list.store.ts'

type Deps = { readonly db: Db }
type Listed<T> = Promise<{ results: T[]; count: number }>

export async function listNameServers(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listNameServersRoute>,
): Listed<NameServer> {
  const { page, count } = await listNameServerRows(db, query)
  return { results: page.map(presentServer), count }
}

const presentServer = ({ is_public, checked, seen, name, ...row }: NameServerRow): NameServer => ({
  ...row,
  name: name.replace(/\.$/, ''),
  public: is_public,
  checked: checked && checked.toISOString(),
  seen: seen && seen.toISOString(),
})

export async function listScrubbers(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listScrubbersRoute>,
): Listed<Scrubber> {
  const { page, count } = await listScrubberRows(db, query)
  return { results: page.map(({ read, ...row }) => ({ ...row, read: read && read.toISOString() })), count }
}

export async function listExporters(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listExportersRoute>,
): Listed<Exporter> {
  const { page, count } = await listExporterRows(db, query)
  return { results: page.map(presentExporter), count }
}

const presentExporter = ({
  first_seen,
  last_seen,
  unknown_interfaces,
  unknown_internal,
  implausible,
  ambiguous_rates,
  ...row
}: ExporterRow): Exporter => ({
  ...row,
  first_seen: first_seen.toISOString(),
  last_seen: last_seen.toISOString(),
  unknown_interfaces: [...unknown_interfaces],
  unknown_internal: [...unknown_internal],
  ambiguous_rates: ambiguous_rates && [...ambiguous_rates],
  implausible: implausible && { ...implausible, at: new Date(implausible.at * 1000).toISOString() },
})
