// Validates the URL of a webhook. Rules about the text are checked when it is saved; the addresses of its host are
// checked each time that a message is sent (drivers/webhook).
import { invalid, type Failure } from '../runtime/error.ts'
import { isWithin, objectionToAddress } from '../net/public-address.ts'
import { hasPort, printPorts, type PortList } from '../net/port-list.ts'
import type { Prefix } from '../net/prefix.ts'

/** "Port blocking" of the Fetch standard: ports of other protocols, whose servers could misinterpret a request, whatever the setting has. */
const badPorts = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
])

/** Names that no public name server resolves (RFC 6761, 6762, 7686, 8375, and `internal`). */
const privateName = /(^|\.)(localhost|local|internal|invalid|onion|home\.arpa)$/

export type WebhookRules = {
  /** The operator's own networks: they may be used although they are not public. */
  readonly networks: readonly Prefix[]
  readonly ports: PortList
}

/** The contract already rejects longer ones. */
const lengthMax = 2000

/**
 * Returns the URL as it is stored and requested, in the spelling of the URL standard: every other way to write an
 * address, such as `http://0x7f.1/`, has been converted. `forStaff`: a refusal names the setting that allows more. Throws `invalid`.
 */
export function parseWebhookUrl(text: string, { networks, ports }: WebhookRules, forStaff = false): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.href.length > lengthMax || /[\s\p{Cc}]/u.test(text)) throw refused('webhookUrl')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused('webhookScheme')
  if (url.username !== '' || url.password !== '') throw refused('webhookCredentials')
  if (url.hash !== '') throw refused('webhookFragment')
  const condition = hostRefusal(hostOf(url), url.protocol === 'https:', networks)
  if (condition) throw refused(forStaff ? (forStaffOf[condition] ?? condition) : condition)
  const port = Number(url.port || (url.protocol === 'https:' ? '443' : '80'))
  if (badPorts.has(port) || !hasPort(ports, port)) throw invalid(loc, 'urlPort', { ports: printPorts(ports) })
  return url.href
}

/** The same refusal for staff, who can change the setting. */
const forStaffOf: { readonly [Condition in HostRefusal]?: Refusal } = {
  webhookAddress: 'webhookAddressStaff',
  webhookHost: 'webhookHostStaff',
}

/** An address without its brackets, or a name. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

type HostRefusal = 'webhookScheme' | 'webhookAddress' | 'webhookHost'

function hostRefusal(host: string, isSecure: boolean, allowed: readonly Prefix[]): HostRefusal | undefined {
  const isAddress = host.includes(':') || /^[\d.]+$/.test(host)
  if (isAddress && isWithin(host, allowed)) return undefined
  // A name may still resolve to such an address; that is checked when a message is sent.
  const mayBeOwn = !isAddress && allowed.length > 0
  if (!isSecure && !mayBeOwn) return 'webhookScheme'
  if (isAddress && objectionToAddress(host) !== undefined) return 'webhookAddress'
  return !isAddress && !mayBeOwn && isPrivateName(host) ? 'webhookHost' : undefined
}

function isPrivateName(host: string): boolean {
  const name = host.replace(/\.$/, '')
  return !name.includes('.') || privateName.test(name)
}

type Refusal =
  | HostRefusal
  | 'webhookUrl'
  | 'webhookCredentials'
  | 'webhookFragment'
  | 'webhookAddressStaff'
  | 'webhookHostStaff'

const loc = ['body', 'url']
const refused = (condition: Refusal): Failure => invalid(loc, condition)
