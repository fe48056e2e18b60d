// Reads an address or a CIDR that a user types to find a prefix. Pure.

/** Returns the address, or the network of the CIDR with its host bits cleared; undefined if the text is neither. */
export function parseNetwork(text: string): string | undefined {
  const [address = '', length, ...rest] = text.trim().split('/')
  if (rest.length > 0) return undefined
  const parsed = parseAddress(address)
  if (!parsed) return undefined
  if (length === undefined) return address.toLowerCase()
  const bits = parsed.isIpv6 ? 128 : 32
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined
  const host = BigInt(bits - Number(length))
  const network = (parsed.value >> host) << host
  return `${parsed.isIpv6 ? ipv6Text(network) : ipv4Text(network)}/${Number(length)}`
}

type Address = { readonly isIpv6: boolean; readonly value: bigint }

function parseAddress(text: string): Address | undefined {
  if (text.includes(':')) return parseIpv6(text)
  const octets = text.split('.')
  if (octets.length !== 4 || !octets.every((one) => /^(0|[1-9]\d{0,2})$/.test(one) && Number(one) < 256))
    return undefined
  return { isIpv6: false, value: octets.reduce((sum, one) => (sum << 8n) | BigInt(one), 0n) }
}

/** The URL parser reads every form of RFC 4291 and writes the shortest (RFC 5952). */
function parseIpv6(text: string): Address | undefined {
  const short = /^[\da-f:.]+$/i.test(text) && URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1)
  if (!short) return undefined
  const [left = '', right] = short.split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
  const [before, after] = [groupsOf(left), groupsOf(right ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = [...before, ...zeros, ...after]
  return { isIpv6: true, value: groups.reduce((sum, one) => (sum << 16n) | BigInt(`0x${one}`), 0n) }
}

const ipv4Text = (value: bigint): string => [24n, 16n, 8n, 0n].map((at) => (value >> at) & 255n).join('.')

function ipv6Text(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((value >> BigInt(112 - 16 * at)) & 65_535n).toString(16),
  )
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}
