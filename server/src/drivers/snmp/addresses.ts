// The addresses of a device's interfaces, from ipAddressTable (both families) and ipAddrTable of IP-MIB (RFC 4293).
import { parseAddress, type Address } from '../../net/address.ts'
import { cell, indexesOf } from './columns.ts'
import { ip } from './oids.ts'
import type { SnmpSession } from './session.ts'
import { toAddress, toNumber, toOid } from './value.ts'
import { walkColumns, type WalkedColumns } from './walk.ts'

/** A value of ipAddressType. */
const broadcast = 3

/** Returns addresses such as `192.0.2.1/30` by the index of the interface, without link-local IPv6. */
export async function readInterfaceAddresses(
  session: SnmpSession,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const found = await walkColumns(session, Object.values(ip), signal)
  const byInterface = new Map<number, Map<Address, number>>()
  const add = (index: number | null, address: Address | undefined, length: number | undefined) => {
    if (index === null || address === undefined) return
    const lengths = byInterface.get(index) ?? new Map<Address, number>()
    byInterface.set(index, lengths)
    // A length that is missing in one table may be in the other.
    if (length !== undefined) lengths.set(address, length)
    else if (!lengths.has(address)) lengths.set(address, address.includes(':') ? 128 : 32)
  }
  for (const index of indexesOf(found, ip.addressIfIndex))
    if (cell(found, ip.addressType, index, toNumber) !== broadcast)
      add(cell(found, ip.addressIfIndex, index, toNumber), addressOf(index), prefixLength(found, index))
  for (const index of indexesOf(found, ip.adEntIfIndex))
    add(
      cell(found, ip.adEntIfIndex, index, toNumber),
      parsed(index),
      maskLength(cell(found, ip.adEntNetMask, index, toAddress)),
    )
  return new Map(
    [...byInterface].map(([index, lengths]) => [
      index,
      [...lengths].map(([address, length]) => `${address}/${length}`),
    ]),
  )
}

/** The index is the type (ipv4 1, ipv6 2), the number of octets, and the octets; other types are link-local (RFC 4001). */
function addressOf(index: string): Address | undefined {
  const [type, length, ...octets] = index.split('.').map(Number)
  if (type === 1 && length === 4 && octets.length === 4) return parsed(octets.join('.'))
  if (type !== 2 || length !== 16 || octets.length !== 16) return undefined
  const hex = Buffer.from(octets).toString('hex').match(/..../g)!.join(':')
  return hex.startsWith('fe80') ? undefined : parsed(hex)
}

/** ipAddressPrefix points to a row of ipAddressPrefixTable, whose index ends with the length. */
function prefixLength(found: WalkedColumns, index: string): number | undefined {
  const pointer = cell(found, ip.addressPrefix, index, toOid)
  const [length, family] = [Number(pointer?.split('.').at(-1)), index.startsWith('1.') ? 32 : 128]
  const isPointer = pointer !== null && pointer.split('.').length > 10
  return isPointer && length <= family ? length : undefined
}

function maskLength(mask: string | null): number | undefined {
  if (mask === null) return undefined
  const bits = mask
    .split('.')
    .map((octet) => Number(octet).toString(2).padStart(8, '0'))
    .join('')
  return /^1*0*$/.test(bits) ? bits.replace(/0+$/, '').length : undefined
}

function parsed(text: string): Address | undefined {
  try {
    return parseAddress(text)
  } catch {
    return undefined
  }
}
