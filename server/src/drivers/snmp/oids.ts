// Object identifiers of the standard tables, by the names of their MIBs.

/** SNMPv2-MIB, SNMP-FRAMEWORK-MIB (RFC 3418, RFC 3411). */
export const system = {
  sysDescr: '1.3.6.1.2.1.1.1.0',
  sysObjectID: '1.3.6.1.2.1.1.2.0',
  sysUpTime: '1.3.6.1.2.1.1.3.0',
  sysName: '1.3.6.1.2.1.1.5.0',
  snmpEngineTime: '1.3.6.1.6.3.10.2.1.3.0',
} as const

/** ifTable of IF-MIB (RFC 2863). */
export const ifTable = {
  descr: '1.3.6.1.2.1.2.2.1.2',
  type: '1.3.6.1.2.1.2.2.1.3',
  mtu: '1.3.6.1.2.1.2.2.1.4',
  speed: '1.3.6.1.2.1.2.2.1.5',
  physAddress: '1.3.6.1.2.1.2.2.1.6',
  adminStatus: '1.3.6.1.2.1.2.2.1.7',
  operStatus: '1.3.6.1.2.1.2.2.1.8',
  inOctets: '1.3.6.1.2.1.2.2.1.10',
  inUcastPkts: '1.3.6.1.2.1.2.2.1.11',
  inDiscards: '1.3.6.1.2.1.2.2.1.13',
  inErrors: '1.3.6.1.2.1.2.2.1.14',
  outOctets: '1.3.6.1.2.1.2.2.1.16',
  outUcastPkts: '1.3.6.1.2.1.2.2.1.17',
  outDiscards: '1.3.6.1.2.1.2.2.1.19',
  outErrors: '1.3.6.1.2.1.2.2.1.20',
} as const

/** ifXTable of IF-MIB. */
export const ifXTable = {
  name: '1.3.6.1.2.1.31.1.1.1.1',
  hcInOctets: '1.3.6.1.2.1.31.1.1.1.6',
  hcInUcastPkts: '1.3.6.1.2.1.31.1.1.1.7',
  hcOutOctets: '1.3.6.1.2.1.31.1.1.1.10',
  hcOutUcastPkts: '1.3.6.1.2.1.31.1.1.1.11',
  highSpeed: '1.3.6.1.2.1.31.1.1.1.15',
  alias: '1.3.6.1.2.1.31.1.1.1.18',
  counterDiscontinuityTime: '1.3.6.1.2.1.31.1.1.1.19',
} as const

/** ifStackStatus, index higher.lower; dot3adAggPortAttachedAggID of IEEE8023-LAG-MIB, index of the member. */
export const lag = {
  ifStackStatus: '1.3.6.1.2.1.31.1.2.1.3',
  attachedAggId: '1.2.840.10006.300.43.1.2.1.1.13',
} as const

/** IP-MIB (RFC 4293): ipAddressTable has both families, ipAddrTable only IPv4. */
export const ip = {
  addressIfIndex: '1.3.6.1.2.1.4.34.1.3',
  addressType: '1.3.6.1.2.1.4.34.1.4',
  addressPrefix: '1.3.6.1.2.1.4.34.1.5',
  adEntIfIndex: '1.3.6.1.2.1.4.20.1.2',
  adEntNetMask: '1.3.6.1.2.1.4.20.1.3',
} as const

/**
 * TIMETRA-VRTR-MIB of Nokia SR OS, index of the virtual router, then of its interface. The octets are counted in IPv4
 * and IPv6 packets.
 */
export const vRtr = {
  name: '1.3.6.1.4.1.6527.3.1.2.3.1.1.4',
  ifName: '1.3.6.1.4.1.6527.3.1.2.3.4.1.4',
  ifAdminState: '1.3.6.1.4.1.6527.3.1.2.3.4.1.8',
  ifOperState: '1.3.6.1.4.1.6527.3.1.2.3.4.1.9',
  ifDescription: '1.3.6.1.4.1.6527.3.1.2.3.4.1.34',
  ifOperMtu: '1.3.6.1.4.1.6527.3.1.2.3.4.1.62',
  /** Unique on the device, unlike the index within the router. */
  ifGlobalIndex: '1.3.6.1.4.1.6527.3.1.2.3.4.1.63',
  ifRxBytes: '1.3.6.1.4.1.6527.3.1.2.3.54.1.43',
  ifTxBytes: '1.3.6.1.4.1.6527.3.1.2.3.74.1.4',
} as const

/**
 * sapBaseInfoTable and sapBaseStatsTable of TIMETRA-SAP-MIB, index of the service, the port (its ifIndex), then the encapsulation. Counters
 * have 64 bits.
 */
export const sap = {
  description: '1.3.6.1.4.1.6527.3.1.2.4.3.2.1.5',
  adminStatus: '1.3.6.1.4.1.6527.3.1.2.4.3.2.1.6',
  operStatus: '1.3.6.1.4.1.6527.3.1.2.4.3.2.1.7',
  offeredHighOctets: '1.3.6.1.4.1.6527.3.1.2.4.3.6.1.4',
  offeredLowOctets: '1.3.6.1.4.1.6527.3.1.2.4.3.6.1.6',
  forwardedInProfileOctets: '1.3.6.1.4.1.6527.3.1.2.4.3.6.1.20',
  forwardedOutOfProfileOctets: '1.3.6.1.4.1.6527.3.1.2.4.3.6.1.22',
  offeredUncoloredOctets: '1.3.6.1.4.1.6527.3.1.2.4.3.6.1.25',
  /** Clock value. */
  lastCleared: '1.3.6.1.4.1.6527.3.1.2.4.3.6.1.28',
} as const

/** entPhysicalTable of ENTITY-MIB (RFC 6933). */
export const entPhysical = {
  descr: '1.3.6.1.2.1.47.1.1.1.1.2',
  class: '1.3.6.1.2.1.47.1.1.1.1.5',
  name: '1.3.6.1.2.1.47.1.1.1.1.7',
  softwareRev: '1.3.6.1.2.1.47.1.1.1.1.10',
  serialNum: '1.3.6.1.2.1.47.1.1.1.1.11',
  modelName: '1.3.6.1.2.1.47.1.1.1.1.13',
} as const

/** entPhySensorTable of ENTITY-SENSOR-MIB (RFC 3433). */
export const entPhySensor = {
  type: '1.3.6.1.2.1.99.1.1.1.1',
  scale: '1.3.6.1.2.1.99.1.1.1.2',
  precision: '1.3.6.1.2.1.99.1.1.1.3',
  value: '1.3.6.1.2.1.99.1.1.1.4',
  operStatus: '1.3.6.1.2.1.99.1.1.1.5',
} as const

/** HOST-RESOURCES-MIB (RFC 2790). */
export const hostResources = {
  storageType: '1.3.6.1.2.1.25.2.3.1.2',
  storageDescr: '1.3.6.1.2.1.25.2.3.1.3',
  storageSize: '1.3.6.1.2.1.25.2.3.1.5',
  storageUsed: '1.3.6.1.2.1.25.2.3.1.6',
  processorLoad: '1.3.6.1.2.1.25.3.3.1.2',
  /** A value of storageType. */
  storageRam: '1.3.6.1.2.1.25.2.1.2',
} as const

/** UCD-SNMP-MIB of net-snmp; memory in kB. */
export const ucd = {
  memTotalReal: '1.3.6.1.4.1.2021.4.5.0',
  memAvailReal: '1.3.6.1.4.1.2021.4.6.0',
  memBuffer: '1.3.6.1.4.1.2021.4.14.0',
  memCached: '1.3.6.1.4.1.2021.4.15.0',
  cpuIdle: '1.3.6.1.4.1.2021.11.11.0',
} as const
