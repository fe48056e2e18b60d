// The keys of flows, by which traffic is grouped and filtered. A closed table: a query contains no other keys.

/** The kinds of values of a filter key. */
export const filterValueTypes = [
  'ip',
  'cidr',
  'integer',
  'string',
  'enum',
  'datetime',
  'country',
  'asn',
] as const
export type FilterValueType = (typeof filterValueTypes)[number]

/**
 * `contains`: the prefix contains the address, all these TCP flags are set, or the text occurs in the name. `within`: inside
 * this CIDR. `gt`, `lt`: greater, less than.
 */
export const filterOperators = ['eq', 'ne', 'in', 'not_in', 'contains', 'within', 'gt', 'lt'] as const
export type FilterOperator = (typeof filterOperators)[number]

export type FlowKeyFacts = {
  readonly label: string
  readonly description: string
  readonly type: FilterValueType
  readonly operators: readonly FilterOperator[]
}

const equality = ['eq', 'ne', 'in', 'not_in'] as const
const order = [...equality, 'gt', 'lt'] as const
const network = [...equality, 'within'] as const
const named = [...equality, 'contains'] as const

const address = (label: string, description: string) =>
  ({ label, description, type: 'ip', operators: network }) as const
const port = (label: string, description: string) =>
  ({ label, description, type: 'integer', operators: order }) as const
const asn = (label: string, description: string) =>
  ({ label, description, type: 'asn', operators: equality }) as const
const country = (label: string, description: string) =>
  ({ label, description, type: 'country', operators: equality }) as const

export const flowKeys = {
  direction: {
    label: 'Direction',
    description: '`in`: towards the team, `out`: from the team, `internal`: between networks of the team',
    type: 'enum',
    operators: equality,
  },
  protocol: {
    label: 'Protocol',
    description: 'protocol or next header: a name such as `udp`, or a number from 0 to 255',
    type: 'enum',
    operators: equality,
  },
  family: {
    label: 'Address family',
    description: '`ipv4` or `ipv6`',
    type: 'enum',
    operators: equality,
  },
  prefix: {
    label: 'Prefix',
    description: 'prefix of the team; the longest one that contains the address',
    type: 'cidr',
    operators: [...equality, 'within', 'contains'],
  },
  device: {
    label: 'Device',
    description: 'id of the device that exported the flow; `contains` searches names',
    type: 'integer',
    operators: named,
  },
  interface: {
    label: 'Interface',
    description: 'id of the port of the team through which the traffic passed; `contains` searches names',
    type: 'integer',
    operators: named,
  },
  service_port: {
    label: 'Service port',
    description:
      'the lower port of the flow if it is below 32768, which is the port of the service; otherwise 0',
    type: 'integer',
    operators: order,
  },
  remote_asn: asn('Remote AS', 'AS of the address outside of the team; 0 if unknown'),
  remote_country: country('Remote country', 'country of the address outside of the team; empty if unknown'),
  remote_address: address('Remote address', 'address outside of the team'),
  remote_port: port('Remote port', 'port of the remote address'),
  local_address: address('Local address', 'address of the team'),
  local_port: port('Local port', 'port of the local address'),
  src_address: address('Source address', 'source address'),
  dst_address: address('Destination address', 'destination address'),
  src_port: port('Source port', 'source port; 0 if the protocol has none'),
  dst_port: port('Destination port', 'destination port; of ICMP: type * 256 + code'),
  src_asn: asn('Source AS', 'AS of the source; 0 if unknown'),
  dst_asn: asn('Destination AS', 'AS of the destination; 0 if unknown'),
  src_country: country('Source country', 'country of the source; empty if unknown'),
  dst_country: country('Destination country', 'country of the destination; empty if unknown'),
  tcp_flags: {
    label: 'TCP flags',
    description:
      'flags of all packets of the flow together: a number from 0 to 255, or names such as `SYN` or `SYN+ACK`; `contains`: at least these',
    type: 'string',
    operators: named,
  },
  dscp: { label: 'DSCP', description: 'from 0 to 63', type: 'integer', operators: order },
  fragment: {
    label: 'Fragment',
    description: '`yes` or `no`; most exporters do not report it',
    type: 'enum',
    operators: equality,
  },
  packet_size: {
    label: 'Packet size',
    description: 'mean length of the packets of the flow in bytes; grouped by bands such as `64-127`',
    type: 'integer',
    operators: ['gt', 'lt'],
  },
} as const satisfies Record<string, FlowKeyFacts>
export type FlowKey = keyof typeof flowKeys

export const flowKeyNames = Object.keys(flowKeys) as FlowKey[]
