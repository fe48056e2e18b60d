// The BGP sessions of a device, from the first of these MIBs that it implements: BGP4-V2-MIB-JUNIPER, ARISTA-BGP4V2-MIB, CISCO-BGP4-MIB
// (cbgpPeer2Table), and BGP4-MIB (RFC 4273), which has IPv4 neighbors and no prefixes. The sessions of VRFs of Cisco are in a table of their
// own (cbgpPeer3Table), which has no prefixes.
import type { BgpState } from '@pharos/contract/inventory/bgp-session'
import type { SeenBgpSession } from '../../inventory/collect/device-source.ts'
import { parseAddress } from '../../net/address.ts'
import { cell, readFirst } from './columns.ts'
import type { SnmpSession } from './session.ts'
import { toNumber, toOctets, toText } from './value.ts'
import { walkColumns, type SnmpColumn, type WalkedColumns } from './walk.ts'

/** The columns of one MIB for the common fields, as OIDs. */
export type BgpDialect = {
  readonly state: string
  readonly admin: string
  /** The value of `admin` for a session that the configuration has disabled. */
  readonly disabled: number
  readonly asn: string
  readonly established: string
  /** An address that is a column, if it is not in the index. */
  readonly peer?: string
  /** Code and subcode of the last NOTIFICATION in two octets, and its text. */
  readonly error?: string
  readonly errorText?: string
  /** In the order of Arista: code, subcode and time of the last one received, then of the last one sent. */
  readonly errors?: { readonly received: ErrorColumns; readonly sent: ErrorColumns }
  readonly prefixes?: {
    readonly received: string
    readonly limit?: string
    /** The column whose value is the beginning of the index of prefixes, if that is not the index of the session. */
    readonly key?: string
  }
  /** Whether the index begins with a routing instance. */
  readonly hasInstance: boolean
  /** The name of the routing instance, of a table that is read beside that of the default instance and may repeat it. */
  readonly instanceName?: string
}
type ErrorColumns = {
  readonly code: string
  readonly subcode: string
  readonly time: string
  readonly text: string
}

const juniper = '1.3.6.1.4.1.2636.5.1.1.2'
const arista = '1.3.6.1.4.1.30065.4.1.1'
const cisco = '1.3.6.1.4.1.9.9.187.1.2'
const standard = '1.3.6.1.2.1.15.3.1'

const dialects: readonly BgpDialect[] = [
  {
    state: `${juniper}.1.1.1.2`,
    admin: `${juniper}.1.1.1.3`,
    disabled: 1,
    asn: `${juniper}.1.1.1.13`,
    established: `${juniper}.4.1.1.1`,
    peer: `${juniper}.1.1.1.11`,
    error: `${juniper}.2.1.1.1`,
    errorText: `${juniper}.2.1.1.5`,
    prefixes: { received: `${juniper}.6.2.1.7`, key: `${juniper}.1.1.1.14` },
    hasInstance: true,
  },
  {
    state: `${arista}.2.1.13`,
    admin: `${arista}.2.1.12`,
    disabled: 1,
    asn: `${arista}.2.1.10`,
    established: `${arista}.4.1.1`,
    errors: {
      received: {
        code: `${arista}.3.1.1`,
        subcode: `${arista}.3.1.2`,
        time: `${arista}.3.1.3`,
        text: `${arista}.3.1.4`,
      },
      sent: {
        code: `${arista}.3.1.6`,
        subcode: `${arista}.3.1.7`,
        time: `${arista}.3.1.8`,
        text: `${arista}.3.1.9`,
      },
    },
    prefixes: { received: `${arista}.8.1.3` },
    hasInstance: true,
  },
  {
    state: `${cisco}.5.1.3`,
    admin: `${cisco}.5.1.4`,
    disabled: 1,
    asn: `${cisco}.5.1.11`,
    established: `${cisco}.5.1.19`,
    error: `${cisco}.5.1.17`,
    errorText: `${cisco}.5.1.28`,
    prefixes: { received: `${cisco}.8.1.1`, limit: `${cisco}.8.1.3` },
    hasInstance: false,
  },
  {
    state: `${cisco}.9.1.5`,
    admin: `${cisco}.9.1.6`,
    disabled: 1,
    asn: `${cisco}.9.1.13`,
    established: `${cisco}.9.1.21`,
    error: `${cisco}.9.1.19`,
    errorText: `${cisco}.9.1.30`,
    hasInstance: true,
    instanceName: `${cisco}.9.1.4`,
  },
  {
    state: `${standard}.2`,
    admin: `${standard}.3`,
    disabled: 1,
    asn: `${standard}.9`,
    established: `${standard}.16`,
    error: `${standard}.14`,
    hasInstance: false,
  },
]

/** Returns the dialects of the device, in the order of their sessions; empty without a dialect. */
export async function findBgpDialects(
  session: SnmpSession,
  signal: AbortSignal,
): Promise<readonly BgpDialect[]> {
  const first = await readFirst(
    session,
    dialects.map(({ state }) => state),
    signal,
  )
  const found = dialects.filter(({ state }) => first.get(state)!.size > 0)
  const isBeside = ({ instanceName }: BgpDialect) => instanceName !== undefined
  return [...found.filter((one) => !isBeside(one)).slice(0, 1), ...found.filter(isBeside)]
}

/** If two tables have a session, the first one is used. */
export async function readBgpSessions(
  session: SnmpSession,
  found: readonly BgpDialect[],
  signal: AbortSignal,
): Promise<SeenBgpSession[]> {
  const tables = await walkColumns(session, found.flatMap(columnsOf), signal)
  const sessions = new Map<string, SeenBgpSession>()
  for (const one of found.flatMap((dialect) => sessionsOf(tables, dialect))) {
    const key = `${one.instance} ${one.peer}`
    if (!sessions.has(key)) sessions.set(key, one)
  }
  return [...sessions.values()]
}

function columnsOf({
  disabled: _disabled,
  hasInstance: _instance,
  errors,
  prefixes,
  ...columns
}: BgpDialect): string[] {
  const ofErrors = errors ? [...Object.values(errors.received), ...Object.values(errors.sent)] : []
  return [...Object.values(columns), ...ofErrors, ...Object.values(prefixes ?? {})]
}

function sessionsOf(found: WalkedColumns, dialect: BgpDialect): SeenBgpSession[] {
  return [...found.get(dialect.state)!].flatMap(([index, state]) => {
    const number = (column: string) => cell(found, column, index, toNumber)
    const peer = dialect.peer ? addressIn(cell(found, dialect.peer, index, toOctets)) : peerOf(index, dialect)
    if (peer === undefined) return []
    return [
      {
        instance: instanceOf(found, dialect, index),
        peer,
        peerAsn: asnOf(number(dialect.asn)),
        state:
          number(dialect.admin) === dialect.disabled
            ? 'disabled'
            : (states[toNumber(state) ?? 0] ?? 'unknown'),
        establishedSeconds: number(dialect.established) || null,
        prefixes: prefixesOf(found, dialect, index),
        error: errorOf(found, dialect, index),
      } satisfies SeenBgpSession,
    ]
  })
}

/** The default instance of Cisco is `default`, or has no name. */
function instanceOf(found: WalkedColumns, { hasInstance, instanceName }: BgpDialect, index: string): string {
  if (!hasInstance) return ''
  const name = instanceName === undefined ? undefined : cell(found, instanceName, index, toText)
  return name === '' || name?.toLowerCase() === 'default' ? '' : index.split('.')[0]!
}

/** bgpPeerState, idle(1) to established(6). */
const states: readonly (BgpState | undefined)[] = [
  undefined,
  'idle',
  'connect',
  'active',
  'opensent',
  'openconfirm',
  'established',
]

/** BGP4-MIB has 16 bits: AS_TRANS stands for larger ones (RFC 6793). */
const asnOf = (asn: number | null): number | null => {
  const unsigned = asn !== null && asn < 0 ? asn + 2 ** 32 : asn
  return unsigned === 0 || unsigned === 23_456 ? null : unsigned
}

/** The index is an IPv4 address, or the type of the address, its length and its octets, with an instance before. */
function peerOf(index: string, { hasInstance }: BgpDialect): string | undefined {
  const parts = index.split('.').map(Number)
  if (!hasInstance && parts.length === 4) return addressIn(Uint8Array.from(parts))
  const [type, length, ...octets] = hasInstance ? parts.slice(1) : parts
  const isAddress = (type === 1 && length === 4) || (type === 2 && length === 16)
  return isAddress && octets.length === length ? addressIn(Uint8Array.from(octets)) : undefined
}

function addressIn(octets: Uint8Array | null): string | undefined {
  if (octets?.length === 4) return octets.join('.')
  if (octets?.length !== 16) return undefined
  return parseAddress(Buffer.from(octets).toString('hex').match(/..../g)!.join(':'))
}

/** InetAddressType or AFI: 1 is IPv4, 2 is IPv6; SAFI 1 is unicast. */
const families: Readonly<Record<string, 'ipv4' | 'ipv6'>> = { '1.1': 'ipv4', '2.1': 'ipv6' }
const unlimited = 2 ** 32 - 1

function prefixesOf(
  found: WalkedColumns,
  { prefixes }: BgpDialect,
  index: string,
): SeenBgpSession['prefixes'] {
  if (!prefixes) return []
  const start = prefixes.key === undefined ? index : cell(found, prefixes.key, index, toNumber)
  if (start === null) return []
  return Object.entries(families).flatMap(([suffix, family]) => {
    const row = `${start}.${suffix}`
    const number = (column: string | undefined) =>
      column === undefined ? null : numberIn(found.get(column), row)
    const [received, limit] = [number(prefixes.received), number(prefixes.limit)]
    return received === null ? [] : [{ family, received, limit: limit === unlimited ? null : limit || null }]
  })
}

function numberIn(column: SnmpColumn | undefined, row: string): number | null {
  const value = column?.get(row)
  return value === undefined ? null : toNumber(value)
}

function errorOf(
  found: WalkedColumns,
  { error, errorText, errors }: BgpDialect,
  index: string,
): SeenBgpSession['error'] {
  if (errors) return laterError(found, errors, index)
  const octets = error === undefined ? null : cell(found, error, index, toOctets)
  if (octets?.length !== 2 || octets[0] === 0) return null
  const text = errorText === undefined ? null : cell(found, errorText, index, toText)
  return { code: octets[0]!, subcode: octets[1]!, text: text ?? '' }
}

/** The time is the clock of the device; 0 without an error. */
function laterError(
  found: WalkedColumns,
  { received, sent }: NonNullable<BgpDialect['errors']>,
  index: string,
): SeenBgpSession['error'] {
  const number = (column: string) => cell(found, column, index, toNumber) ?? 0
  const last = number(sent.time) > number(received.time) ? sent : received
  const code = number(last.code)
  if (code === 0) return null
  return { code, subcode: number(last.subcode), text: cell(found, last.text, index, toText) ?? '' }
}
