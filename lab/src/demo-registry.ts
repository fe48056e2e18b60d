// The initial content of the lab's registries: the objects of the announcements in lab/platform.yaml.
import type { LabVrp } from './stayrtr.ts'

const held = [
  { prefix: '203.0.113.0/24', asn: 64496 },
  { prefix: '2001:db8:a::/48', asn: 64496 },
  { prefix: '198.51.100.0/24', asn: 64496 },
  { prefix: '192.0.2.0/24', asn: 64497 },
]

export const demoVrps: readonly LabVrp[] = held.map((one) => ({
  ...one,
  maxLength: Number(one.prefix.split('/')[1]),
}))

const routeObject = ({ prefix, asn }: (typeof held)[number]): string =>
  `${prefix.includes(':') ? 'route6' : 'route'}: ${prefix}\norigin: AS${asn}\nmnt-by: LAB-MNT\nsource: LAB`

/** The ASN of the walkthrough's new customer, whose proof is a line in it, which counts in a regional registry only. */
const autNum = 'aut-num: AS64510\nas-name: ACME\nmnt-by: ACME-MNT\nsource: RIPE'

export const demoObjects: readonly string[] = [...held.map(routeObject), autNum]
