// A scripted device as the objects that an SNMP agent serves: the standard tables, written from the MIBs.
import type { ScriptedDevice, ScriptedInterface } from '../../inventory/collect/device-source.conformance.ts'
import { snmpValue, type SnmpValue } from '../../../../lab/src/snmp-ber.ts'
import type { SnmpRecord } from '../../../../lab/src/snmp-records.ts'
import { entPhysical, ifTable, ifXTable, ip, lag, system } from './oids.ts'

const states = ['up', 'down', 'testing', 'unknown', 'dormant', 'not_present', 'lower_layer_down']

export function deviceRecords({ identity, interfaces }: ScriptedDevice): SnmpRecord[] {
  return [
    [system.sysDescr, snmpValue.text(`${identity.vendor} EOS version ${identity.software}`)],
    // Arista.
    [system.sysObjectID, snmpValue.oid('1.3.6.1.4.1.30065.1.3011')],
    [system.sysName, snmpValue.text(identity.name)],
    [`${entPhysical.class}.1`, snmpValue.integer(3)],
    [`${entPhysical.modelName}.1`, snmpValue.text(identity.model)],
    [`${entPhysical.serialNum}.1`, snmpValue.text(identity.serial)],
    [`${entPhysical.softwareRev}.1`, snmpValue.text(identity.software)],
    ...interfaces.flatMap((one, at) => interfaceRecords(interfaces, one, one.index ?? at + 1)),
  ]
}

function interfaceRecords(
  all: readonly ScriptedInterface[],
  one: ScriptedInterface,
  index: number,
): SnmpRecord[] {
  const mbps = one.speedBps === null ? 0 : Math.round(one.speedBps / 1e6)
  const lagAt = all.findIndex(({ name }) => name === one.lag)
  return [
    ...cells(index, {
      [ifTable.descr]: snmpValue.text(one.description ?? one.name ?? ''),
      [ifTable.type]: snmpValue.integer(one.isLag ? 161 : 6),
      [ifTable.mtu]: snmpValue.integer(9000),
      [ifTable.speed]: snmpValue.gauge(Math.min(one.speedBps ?? 0, 4_294_967_295)),
      [ifTable.physAddress]: snmpValue.text(Uint8Array.of(2, 0, 0, 0, index >> 8, index & 255)),
      [ifTable.adminStatus]: snmpValue.integer(states.indexOf(one.admin) + 1),
      [ifTable.operStatus]: snmpValue.integer(states.indexOf(one.oper) + 1),
      [ifXTable.name]: one.name === null ? undefined : snmpValue.text(one.name),
      [ifXTable.highSpeed]: snmpValue.gauge(mbps),
      [ifXTable.alias]: snmpValue.text(one.alias ?? ''),
    }),
    ...counterRecords(one, index),
    ...opticRecords(one, index),
    ...(one.addresses ?? []).flatMap((text) => addressRecords(text, index)),
    ...(lagAt < 0
      ? []
      : [[`${lag.ifStackStatus}.${all[lagAt]!.index ?? lagAt + 1}.${index}`, snmpValue.integer(1)] as const]),
  ]
}

function counterRecords({ counters = {} }: ScriptedInterface, index: number): SnmpRecord[] {
  const { bits = 64, octetsIn = 0n, octetsOut = 0n, packetsIn = 0n, packetsOut = 0n } = counters
  const { errorsIn = 0n, errorsOut = 0n, discardsIn = 0n, discardsOut = 0n, discontinuity = 0 } = counters
  const is64 = bits === 64
  const small = (value: bigint | null) => (value === null ? undefined : snmpValue.counter(value % 2n ** 32n))
  const large = (value: bigint | null) => (value === null || !is64 ? undefined : snmpValue.counter64(value))
  return cells(index, {
    [ifXTable.hcInOctets]: large(octetsIn),
    [ifXTable.hcOutOctets]: large(octetsOut),
    [ifXTable.hcInUcastPkts]: large(packetsIn),
    [ifXTable.hcOutUcastPkts]: large(packetsOut),
    [ifTable.inOctets]: small(octetsIn),
    [ifTable.outOctets]: small(octetsOut),
    [ifTable.inUcastPkts]: small(packetsIn),
    [ifTable.outUcastPkts]: small(packetsOut),
    [ifTable.inErrors]: small(errorsIn),
    [ifTable.outErrors]: small(errorsOut),
    [ifTable.inDiscards]: small(discardsIn),
    [ifTable.outDiscards]: small(discardsOut),
    [ifXTable.counterDiscontinuityTime]: discontinuity === null ? undefined : snmpValue.ticks(discontinuity),
  })
}

/** The module is in MIKROTIK-MIB, in 0.001 dBm; several lanes are in JUNIPER-DOM-MIB, in 0.01 dBm. */
function opticRecords({ name, optic }: ScriptedInterface, index: number): SnmpRecord[] {
  if (optic === undefined) return []
  const [module, dom, lane] = [
    '1.3.6.1.4.1.14988.1.1.19.1.1',
    '1.3.6.1.4.1.2636.3.60.1.1.1.1',
    '1.3.6.1.4.1.2636.3.60.1.2.1.1',
  ]
  const { rxDbm, lanes, serial } = optic
  const identity = cells(index, {
    [`${module}.2`]: snmpValue.text(name ?? ''),
    [`${module}.11`]: snmpValue.text('Example'),
    [`${module}.12`]: snmpValue.text(serial),
  })
  if (rxDbm === null) return identity
  if (lanes === 1)
    return [
      ...identity,
      ...cells(index, {
        [`${module}.3`]: snmpValue.integer(rxDbm <= -40 ? 1 : 0),
        [`${module}.6`]: snmpValue.integer(35),
        [`${module}.8`]: snmpValue.integer(40),
        [`${module}.9`]: snmpValue.integer(-1_500),
        [`${module}.10`]: snmpValue.integer(rxDbm * 1_000),
      }),
    ]
  const lights = Array.from({ length: lanes }, (_, at): readonly SnmpRecord[] => [
    [`${lane}.6.${index}.${at}`, snmpValue.integer(rxDbm * 100)],
    [`${lane}.7.${index}.${at}`, snmpValue.integer(40_000)],
    [`${lane}.8.${index}.${at}`, snmpValue.integer(-150)],
  ])
  return [...identity, [`${dom}.5.${index}`, snmpValue.integer(0)], ...lights.flat()]
}

/** ipAddressTable, with the pointer to the row of the prefix that ends with its length. */
function addressRecords(text: string, index: number): SnmpRecord[] {
  const [address = '', length = ''] = text.split('/')
  const octets = address.includes(':') ? expand(address) : address.split('.').map(Number)
  const row = [octets.length === 4 ? 1 : 2, octets.length, ...octets].join('.')
  return [
    [`${ip.addressIfIndex}.${row}`, snmpValue.integer(index)],
    [`${ip.addressPrefix}.${row}`, snmpValue.oid(`1.3.6.1.2.1.4.32.1.5.${index}.${row}.${length}`)],
  ]
}

function expand(address: string): number[] {
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => part.split(':').filter((group) => group !== '')
  const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0')
  return [...groups(head), ...zeros, ...groups(tail)].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
}

function cells(index: number, columns: Record<string, SnmpValue | undefined>): SnmpRecord[] {
  return Object.entries(columns).flatMap(([column, value]) =>
    value === undefined ? [] : [[`${column}.${index}`, value] as const],
  )
}
