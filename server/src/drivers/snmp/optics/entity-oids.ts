// Columns of ENTITY-MIB (RFC 6933).

/** entPhysicalTable by entPhysicalIndex. */
export const opticEntPhysical = {
  descr: '1.3.6.1.2.1.47.1.1.1.1.2',
  containedIn: '1.3.6.1.2.1.47.1.1.1.1.4',
  name: '1.3.6.1.2.1.47.1.1.1.1.7',
  serial: '1.3.6.1.2.1.47.1.1.1.1.11',
  vendor: '1.3.6.1.2.1.47.1.1.1.1.12',
  model: '1.3.6.1.2.1.47.1.1.1.1.13',
} as const

/** entAliasMappingIdentifier by entPhysicalIndex and entLogicalIndex: the OID of ifIndex with the index of the interface. */
export const entAlias = '1.3.6.1.2.1.47.1.3.2.1.2'
