// The information elements of flows (IANA registry "IPFIX Information Elements"; 1 to 127 are shared with NetFlow v9),
// and their places in the records of a template. All other elements are skipped by their length.
import type { TemplateRecord } from '../../flow/flow-decoder.ts'

/** Values of the packet's header. Values after a second address of one kind belong to a packet inside of a tunnel. */
const headerNames = [
  'src4',
  'dst4',
  'src6',
  'dst6',
  'ipVersion',
  'protocol',
  'srcPort',
  'dstPort',
  'icmp4',
  'icmp6',
  'icmpType4',
  'icmpCode4',
  'icmpType6',
  'icmpCode6',
  'tcpFlags',
  'tcpFlagsInitial',
  'tcpFlagsReverse',
  'tcpFlagsInitialReverse',
  'tos',
  'dscp',
  'fragmentOffset',
  'fragmentFlags',
] as const

/** Names of the values in a record. `alternate`: used when the ordinary counters are absent or 0. `reverse`: the other direction of a biflow. */
export const slotNames = [
  'octets',
  'packets',
  'octetsAlternate',
  'packetsAlternate',
  'octetsReverse',
  'packetsReverse',
  ...headerNames,
  'inIf',
  'outIf',
  'inIfPhysical',
  'outIfPhysical',
  'srcAs',
  'dstAs',
  'sampler',
  'rate',
  'algorithm',
  'interval',
  'space',
  'intervalTime',
  'spaceTime',
  'size',
  'population',
  'probability',
  'event',
  'eventTime',
  'connection',
  'frame',
  'ipSection',
  'frameSize',
  'domain',
  'startMs',
  'endMs',
  'startSeconds',
  'endSeconds',
  'duration',
] as const

export type SlotName = (typeof slotNames)[number]

const ofHeader: ReadonlySet<SlotName> = new Set(headerNames)

export const slot = Object.fromEntries(slotNames.map((name, index) => [name, index])) as Readonly<
  Record<SlotName, number>
>

type Meaning = readonly [name: SlotName, preference: number]

/** By element; if a template has several of a slot, the lowest preference is read. Elements after NAT (225 to 228, 281, 282) are absent on purpose. */
const ordinary: Readonly<Record<number, Meaning>> = {
  1: ['octets', 0],
  2: ['packets', 0],
  231: ['octets', 1],
  298: ['packets', 1],
  // Totals since the start of the flow: only exporters that send a flow once, at its end, have no deltas (YAF, ASA 8).
  85: ['octets', 2],
  86: ['packets', 2],
  352: ['octets', 3],
  353: ['octets', 4],
  // OUT_BYTES and OUT_PKTS: the same flow after the router, also the only counters of egress exporters.
  23: ['octetsAlternate', 0],
  24: ['packetsAlternate', 0],
  171: ['octetsAlternate', 1],
  172: ['packetsAlternate', 1],
  232: ['octetsReverse', 1],
  299: ['packetsReverse', 1],
  8: ['src4', 0],
  12: ['dst4', 0],
  27: ['src6', 0],
  28: ['dst6', 0],
  60: ['ipVersion', 0],
  4: ['protocol', 0],
  7: ['srcPort', 0],
  182: ['srcPort', 1],
  180: ['srcPort', 2],
  11: ['dstPort', 0],
  183: ['dstPort', 1],
  181: ['dstPort', 2],
  32: ['icmp4', 0],
  139: ['icmp6', 0],
  176: ['icmpType4', 0],
  177: ['icmpCode4', 0],
  178: ['icmpType6', 0],
  179: ['icmpCode6', 0],
  6: ['tcpFlags', 0],
  5: ['tos', 0],
  195: ['dscp', 0],
  88: ['fragmentOffset', 0],
  197: ['fragmentFlags', 0],
  10: ['inIf', 0],
  14: ['outIf', 0],
  252: ['inIfPhysical', 0],
  253: ['outIfPhysical', 0],
  16: ['srcAs', 0],
  17: ['dstAs', 0],
  48: ['sampler', 0],
  302: ['sampler', 1],
  34: ['rate', 0],
  50: ['rate', 1],
  304: ['algorithm', 0],
  305: ['interval', 0],
  306: ['space', 0],
  307: ['intervalTime', 0],
  308: ['spaceTime', 0],
  309: ['size', 0],
  310: ['population', 0],
  311: ['probability', 0],
  233: ['event', 0],
  40_005: ['event', 1],
  230: ['event', 2],
  323: ['eventTime', 0],
  148: ['connection', 0],
  315: ['frame', 0],
  104: ['frame', 1],
  313: ['ipSection', 0],
  312: ['frameSize', 0],
  103: ['frameSize', 1],
  149: ['domain', 0],
  // Milliseconds of two different clocks: a template has both times of the same one.
  22: ['startMs', 0],
  21: ['endMs', 0],
  152: ['startMs', 1],
  153: ['endMs', 1],
  150: ['startSeconds', 0],
  151: ['endSeconds', 0],
  161: ['duration', 0],
}

/** The other direction of a biflow (RFC 5103). */
const reverse: Readonly<Record<number, Meaning>> = {
  1: ['octetsReverse', 0],
  2: ['packetsReverse', 0],
  85: ['octetsReverse', 2],
  86: ['packetsReverse', 2],
  6: ['tcpFlagsReverse', 0],
}

/** Records of connections (AVC of IOS XE) have a client, which is the initiator, and a server. NetFlow v9 sends these elements with the highest bit. */
const cisco: Readonly<Record<number, Meaning>> = {
  12_236: ['src4', 1],
  12_237: ['dst4', 1],
  12_238: ['src6', 1],
  12_239: ['dst6', 1],
  12_240: ['srcPort', 3],
  12_241: ['dstPort', 3],
}

/**
 * YAF separates the flags of the first packet from the flags of the others. Its reverse elements have bit 14 (RFC 5103,
 * section 6.2).
 */
const cert: Readonly<Record<number, Meaning>> = {
  14: ['tcpFlagsInitial', 0],
  15: ['tcpFlags', 1],
  [14 + 0x40_00]: ['tcpFlagsInitialReverse', 0],
  [15 + 0x40_00]: ['tcpFlagsReverse', 1],
}

const byEnterprise: Readonly<Record<number, Readonly<Record<number, Meaning>>>> = {
  9: cisco,
  // Ixia
  3054: { 176: ['octetsReverse', 3], 177: ['packetsReverse', 3] },
  6871: cert,
  29_305: reverse,
}

const addressLength: Partial<Record<SlotName, number>> = { src4: 4, dst4: 4, src6: 16, dst6: 16 }

/** Octets that a value may have: reduced-length encoding (RFC 7011, 6.2) makes numbers shorter. 0: any. */
const exactLength: readonly number[] = slotNames.map((name) =>
  name === 'frame' || name === 'ipSection' ? 0 : (addressLength[name] ?? 8),
)

export const variableLength = 65_535

/** Returns whether a value of this length can be read: an address has one length, a number up to 8 octets. */
export function isReadable(index: number, length: number): boolean {
  const exact = exactLength[index]!
  if (exact === 0) return length > 0
  return exact === 8 ? length >= 1 && length <= 8 : length === exact
}

export type RecordLayout = {
  /** Octets of a record; of a variable one the smallest. */
  readonly width: number
  readonly isVariable: boolean
  /** By slot: the octet offset in a record of fixed length; in a variable one the index of the field. -1: absent. */
  readonly places: Int16Array | Int32Array
  readonly lengths: Uint16Array
  /** Lengths of all fields, for walking through variable records. */
  readonly fieldLengths: Uint16Array
  readonly hasAddress: boolean
  readonly hasCounters: boolean
  readonly hasSection: boolean
  /** Events of connections whose updates and ends have counters (`connections.ts`). */
  readonly isConnection: boolean
}

/**
 * Returns the places of the values in the records of a template. Variable-length fields belong to IPFIX, but H3C's
 * NetStream uses them in NetFlow v9 too, where a fixed field of that length would not fit into a datagram.
 */
export function recordLayoutOf(fields: TemplateRecord['fields']): RecordLayout {
  const isVariable = fields.some(([, , length]) => length === variableLength)
  const places = new Int32Array(slotNames.length).fill(-1)
  const lengths = new Uint16Array(slotNames.length)
  const preferences = new Uint8Array(slotNames.length).fill(255)
  const addresses = new Set<number>()
  let isInner = false
  let offset = 0
  fields.forEach(([enterprise, element, length], index) => {
    const meaning = meaningOf(enterprise, element)
    const isOpen = isVariable && length === variableLength
    if (meaning) {
      const [name, preference] = meaning
      const at = slot[name]
      if (enterprise === 0 && addressLength[name] !== undefined) {
        isInner ||= addresses.has(element)
        addresses.add(element)
      }
      const isSkipped = isInner && ofHeader.has(name)
      if (!isSkipped && preference < preferences[at]! && (isOpen || isReadable(at, length))) {
        preferences[at] = preference
        places[at] = isVariable ? index : offset
        lengths[at] = length
      }
    }
    offset += isOpen ? 1 : length
  })
  const has = (...names: SlotName[]) => names.some((name) => places[slot[name]]! >= 0)
  return {
    width: offset,
    isVariable,
    places,
    lengths,
    fieldLengths: Uint16Array.from(fields, ([, , length]) => length),
    hasAddress: has('src4', 'dst4', 'src6', 'dst6'),
    hasCounters: has(
      'octets',
      'packets',
      'octetsAlternate',
      'packetsAlternate',
      'octetsReverse',
      'packetsReverse',
    ),
    hasSection: has('frame', 'ipSection'),
    isConnection: has('connection') && has('octetsReverse') && preferences[slot.event]! <= 1,
  }
}

function meaningOf(enterprise: number, element: number): Meaning | undefined {
  if (enterprise !== 0) return byEnterprise[enterprise]?.[element]
  return ordinary[element] ?? (element >= 0x80_00 ? cisco[element - 0x80_00] : undefined)
}
