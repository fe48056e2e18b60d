// The name servers, scrubbers and exporters of flows for staff: each with the state that the overview counts.
import type {
  StaffExporter,
  listExportersRoute,
  listNameServersRoute,
  listScrubbersRoute,
  StaffNameServer,
  StaffScrubber,
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
): Listed<StaffNameServer> {
  const { page, count } = await listNameServerRows(db, query)
  return { results: page.map(presentServer), count }
}

const presentServer = ({ is_public, checked, seen, name, ...row }: NameServerRow): StaffNameServer => ({
  ...row,
  name: name.replace(/\.$/, ''),
  public: is_public,
  checked: checked && checked.toISOString(),
  seen: seen && seen.toISOString(),
})

export async function listStaffScrubbers(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listScrubbersRoute>,
): Listed<StaffScrubber> {
  const { page, count } = await listScrubberRows(db, query)
  return { results: page.map(({ read, ...row }) => ({ ...row, read: read && read.toISOString() })), count }
}

export async function listExporters(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listExportersRoute>,
): Listed<StaffExporter> {
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
}: ExporterRow): StaffExporter => ({
  ...row,
  first_seen: first_seen.toISOString(),
  last_seen: last_seen.toISOString(),
  unknown_interfaces: [...unknown_interfaces],
  unknown_internal: [...unknown_internal],
  ambiguous_rates: ambiguous_rates && [...ambiguous_rates],
  implausible: implausible && { ...implausible, at: new Date(implausible.at * 1000).toISOString() },
})
