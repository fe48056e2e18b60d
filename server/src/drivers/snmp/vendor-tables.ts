// Tables of interfaces that are not in IF-MIB: of Nokia SR OS the router interfaces of every virtual router (TIMETRA-VRTR-MIB) and the SAPs of
// every service (TIMETRA-SAP-MIB), and the ports of Infinera Groove. Pure: it reads no device.
import type { Varbind } from 'net-snmp'
import type { InterfaceKey, InterfaceState, SeenInterface } from '../../inventory/collect/device-source.ts'
import { cell } from './columns.ts'
import { groovePort, groovePortName } from './optics/groove-port.ts'
import type { InterfaceNames } from './interface-names.ts'
import { positive } from './interfaces.ts'
import { sap, vRtr } from './oids.ts'
import { toCounter, toNumber, toText } from './value.ts'
import type { WalkedColumns } from './walk.ts'

/**
 * `index`: the rest of the OID. `name`: expected value of the first counter column, if the device may reuse the index.
 */
export type Known = { readonly key: InterfaceKey; readonly index: string; readonly name: string | null }

/** Null: the row lacks a counter that belongs to the sum. Undefined: a counter has a type that is no counter. */
type Octets = bigint | null | undefined

export type VendorTable = {
  /** Column that every row has. */
  readonly probe: string
  readonly columns: readonly string[]
  readonly counters: readonly string[]
  /** IANAifType. */
  readonly type: number
  /** Whether the interfaces have modules, which are found by the key. */
  readonly hasModules: boolean
  nameOf(found: WalkedColumns, index: string, names: InterfaceNames): Known | null
  /** Returns the fields of a row, beside its key and type. */
  seenOf(
    found: WalkedColumns,
    index: string,
  ): Pick<SeenInterface, 'index' | 'alias' | 'mtu' | 'admin' | 'oper'>
  /** `values` are in the order of `counters`. */
  readingOf(values: readonly (Varbind | undefined)[]): {
    readonly admin: InterfaceState
    readonly oper: InterfaceState
    readonly discontinuity: number | null
    readonly octetsIn: Octets
    readonly octetsOut: Octets
  }
}

/** Keys are `router/interface`: the device makes a name unique within its router. */
const routerInterfaces: VendorTable = {
  probe: vRtr.ifName,
  columns: [
    vRtr.name,
    vRtr.ifName,
    vRtr.ifAdminState,
    vRtr.ifOperState,
    vRtr.ifDescription,
    vRtr.ifOperMtu,
    vRtr.ifGlobalIndex,
  ],
  counters: [vRtr.ifName, vRtr.ifAdminState, vRtr.ifOperState, vRtr.ifRxBytes, vRtr.ifTxBytes],
  // propVirtual
  type: 53,
  hasModules: false,
  nameOf(found, index) {
    const [router = ''] = index.split('.')
    const name = cell(found, vRtr.ifName, index, toText)
    if (!name) return null
    return { key: `${cell(found, vRtr.name, router, toText) || router}/${name}`, index, name }
  },
  seenOf(found, index) {
    const number = (column: string) => cell(found, column, index, toNumber)
    return {
      index: positive(number(vRtr.ifGlobalIndex)) ?? -1,
      alias: cell(found, vRtr.ifDescription, index, toText) ?? '',
      mtu: positive(number(vRtr.ifOperMtu)),
      admin: serviceState(number(vRtr.ifAdminState)),
      oper: serviceState(number(vRtr.ifOperState)),
    }
  },
  readingOf: ([, admin, oper, received, sent]) => ({
    admin: serviceState(numberIn(admin)),
    oper: serviceState(numberIn(oper)),
    discontinuity: null,
    octetsIn: sumOf(received),
    octetsOut: sumOf(sent),
  }),
}

/** TmnxAdminState and TmnxOperState: inService(2), outOfService(3). */
const serviceState = (value: number | null): InterfaceState =>
  value === 2 ? 'up' : value === 3 ? 'down' : 'unknown'

/**
 * Keys are `sap port:encapsulation`, as the device names a SAP, such as `sap 1/1/1:100`; without tags it is 0. In is offered to the
 * ingress, of high and low priority and without a color; out is forwarded by the egress, in and out of profile.
 */
const saps: VendorTable = {
  probe: sap.adminStatus,
  columns: [sap.description, sap.adminStatus, sap.operStatus],
  counters: [
    sap.adminStatus,
    sap.operStatus,
    sap.lastCleared,
    sap.offeredHighOctets,
    sap.offeredLowOctets,
    sap.offeredUncoloredOctets,
    sap.forwardedInProfileOctets,
    sap.forwardedOutOfProfileOctets,
  ],
  // l2vlan
  type: 135,
  hasModules: false,
  nameOf(found, index, { byIndex }) {
    const [, port = '', encapsulation = ''] = index.split('.')
    if (cell(found, sap.description, index, toText)?.startsWith('Internal SAP') === true) return null
    const name = byIndex.get(Number(port))?.key ?? port
    return { key: `sap ${name}:${encapsulationText(Number(encapsulation))}`, index, name: null }
  },
  seenOf(found, index) {
    const number = (column: string) => cell(found, column, index, toNumber)
    return {
      index: -1,
      alias: cell(found, sap.description, index, toText) ?? '',
      mtu: null,
      admin: sapState(number(sap.adminStatus)),
      oper: sapState(number(sap.operStatus)),
    }
  },
  readingOf: ([admin, oper, cleared, ...octets]) => ({
    admin: sapState(numberIn(admin)),
    oper: sapState(numberIn(oper)),
    discontinuity: numberIn(cleared),
    octetsIn: sumOf(...octets.slice(0, 3)),
    octetsOut: sumOf(...octets.slice(3)),
  }),
}

/** up(1), down(2); the operational state is also down for a reason, such as portMtuTooSmall(5). */
const sapState = (value: number | null): InterfaceState =>
  value === 1 ? 'up' : value !== null && value >= 2 && value <= 7 ? 'down' : 'unknown'

/**
 * TmnxEncapVal of VLANs: the outer VLAN in the lower half, the inner in the upper; 4095 is `*`. Other values are
 * numbers.
 */
function encapsulationText(value: number): string {
  const [outer, inner] = [value % 65_536, Math.floor(value / 65_536)]
  if (outer > 4095 || inner > 4095) return String(value)
  const text = (vlan: number) => (vlan === 4095 ? '*' : String(vlan))
  return inner === 0 ? text(outer) : `${text(outer)}.${text(inner)}`
}

const numberIn = (value: Varbind | undefined): number | null => (value ? toNumber(value) : null)

/** A part that is missing makes the sum unknown: the rest would look like counters that went back. */
function sumOf(...parts: readonly (Varbind | undefined)[]): Octets {
  const counters = parts.map((part) => (part ? toCounter(part) : null))
  if (parts.some((part, at) => part && counters[at] === null)) return undefined
  return counters.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0n)
}

/** Ports without octet counters. */
const groovePorts: VendorTable = {
  probe: `${groovePort}.20`,
  columns: [`${groovePort}.19`, `${groovePort}.20`, `${groovePort}.23`],
  counters: [`${groovePort}.19`, `${groovePort}.20`],
  // other
  type: 1,
  hasModules: true,
  nameOf: (_found, index) => ({ key: groovePortName(index), index, name: null }),
  seenOf: (found, index) => ({
    index: -1,
    alias: cell(found, `${groovePort}.23`, index, toText) ?? '',
    mtu: null,
    admin: grooveState(cell(found, `${groovePort}.19`, index, toNumber)),
    oper: grooveState(cell(found, `${groovePort}.20`, index, toNumber)),
  }),
  readingOf: ([admin, oper]) => ({
    admin: grooveState(numberIn(admin)),
    oper: grooveState(numberIn(oper)),
    discontinuity: null,
    octetsIn: null,
    octetsOut: null,
  }),
}

/** up(1), down(2), and of the administrative state up-no-alm(3). */
const grooveState = (value: number | null): InterfaceState =>
  value === 1 || value === 3 ? 'up' : value === 2 ? 'down' : 'unknown'

export const vendorTables: readonly VendorTable[] = [routerInterfaces, saps, groovePorts]
