// Vendors by their enterprise number (IANA) in sysObjectID, and the places of values that ENTITY-MIB lacks.

export type Vendor = {
  readonly name: string
  /** Patterns in sysDescr; the first group is the value. */
  readonly model?: RegExp
  readonly software?: RegExp
  readonly scalars?: { readonly model?: string; readonly serial?: string; readonly software?: string }
}

const vendors: Readonly<Record<number, Vendor>> = {
  9: { name: 'Cisco', software: /\bVersion\s+([^\s,[\]]+)/ },
  11: { name: 'HPE' },
  171: { name: 'D-Link' },
  674: { name: 'Dell' },
  800: { name: 'Alcatel-Lucent' },
  1588: { name: 'Brocade' },
  1916: { name: 'Extreme Networks', software: /\bversion\s+([^\s,]+)/i },
  1991: { name: 'Brocade', software: /\bVersion\s+V?([^\s,]+)/ },
  2011: { name: 'Huawei', software: /\bVersion\s+([^\s,]+(?: \([^)]*\))?)/ },
  2352: { name: 'Ericsson' },
  2636: {
    name: 'Juniper',
    model: /^Juniper Networks, Inc\. (\S+)/,
    software: /\bJUNOS\s+([^\s,]+)/,
    // jnxBoxSerialNo of JUNIPER-MIB.
    scalars: { serial: '1.3.6.1.4.1.2636.3.1.3.0' },
  },
  3902: { name: 'ZTE' },
  4526: { name: 'Netgear' },
  6027: { name: 'Dell', software: /\bVersion:\s+([^\s,]+)/ },
  6141: { name: 'Ciena' },
  6527: { name: 'Nokia', model: /\bNokia (\d+ \S+)/, software: /\bTiMOS-([^\s]+)/ },
  8072: { name: 'Net-SNMP', software: /^Linux \S+ (\S+)/ },
  12356: { name: 'Fortinet' },
  14988: {
    name: 'MikroTik',
    model: /^RouterOS (.+)$/,
    // mtxrSerialNumber and mtxrLicVersion of MIKROTIK-MIB.
    scalars: { serial: '1.3.6.1.4.1.14988.1.1.7.3.0', software: '1.3.6.1.4.1.14988.1.1.4.4.0' },
  },
  25461: { name: 'Palo Alto Networks' },
  25506: { name: 'H3C', software: /\bVersion\s+([^\s,]+)/ },
  30065: {
    name: 'Arista',
    model: /running on an Arista (?:Networks )?(\S+)/,
    software: /\bEOS version (\S+)/,
  },
  33049: { name: 'NVIDIA' },
  36673: { name: 'IP Infusion', software: /\bVersion\s+([^\s,]+)/i },
  40310: { name: 'Cumulus', software: /\bLinux\s+([^\s,]+)/ },
  41112: { name: 'Ubiquiti' },
  47196: { name: 'Aruba' },
}

const enterprises = '1.3.6.1.4.1.'

/** Returns undefined if the enterprise is not known. */
export function findVendor(objectId: string | null): Vendor | undefined {
  if (objectId?.startsWith(enterprises) !== true) return undefined
  return vendors[Number(objectId.slice(enterprises.length).split('.')[0])]
}
