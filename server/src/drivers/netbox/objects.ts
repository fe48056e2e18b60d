// The fields of NetBox's objects that are read, as schemas (REST API of NetBox 3.6 and later). Unknown fields are ignored; a missing or
// wrong field is an error.
import { Type, type Static, type TProperties } from 'typebox'

const Read = <T extends TProperties>(properties: T) => Type.Object(properties)
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
const Id = Type.Integer({ minimum: 1 })
/** kbit/s: of 32 bits, and of 64 bits for the speed of an interface in newer versions. */
const KilobitRate = Nullable(Type.Integer({ minimum: 0 }))
const Choice = Read({ value: Type.String() })
const Slugged = Read({ slug: Type.String() })
const CustomFields = Type.Record(Type.String(), Type.Unknown())

export const Site = Read({
  id: Id,
  name: Type.String(),
  slug: Type.String(),
  time_zone: Type.Optional(Nullable(Type.String())),
  custom_fields: CustomFields,
})
export type Site = Static<typeof Site>

export const Device = Read({
  id: Id,
  /** Null for devices without a name, such as patch panels. */
  name: Nullable(Type.String()),
  role: Slugged,
  device_type: Read({ model: Type.String(), manufacturer: Read({ name: Type.String() }) }),
  serial: Type.String(),
  site: Slugged,
  /** With a prefix length: 192.0.2.1/24. */
  primary_ip: Nullable(Read({ address: Type.String() })),
  tags: Type.Array(Slugged),
})
export type Device = Static<typeof Device>

export const Circuit = Read({
  id: Id,
  /** Unique for one provider only. */
  cid: Type.String(),
  type: Slugged,
  status: Choice,
  tenant: Nullable(Slugged),
  commit_rate: KilobitRate,
  install_date: Nullable(Type.String()),
  termination_date: Nullable(Type.String()),
})
export type Circuit = Static<typeof Circuit>

/** Its `link_peers` are interfaces, or front and rear ports of panels; other objects have no `device`. */
export const CircuitTermination = Read({
  id: Id,
  circuit: Read({ id: Id }),
  link_peers_type: Nullable(Type.String()),
  link_peers: Type.Array(Read({ id: Id, device: Type.Optional(Nullable(Read({ id: Id }))) })),
})
export type CircuitTermination = Static<typeof CircuitTermination>

export const Interface = Read({
  id: Id,
  name: Type.String(),
  device: Read({ id: Id }),
  type: Read({ label: Type.String() }),
  speed: KilobitRate,
  description: Type.String(),
  tags: Type.Array(Slugged),
  custom_fields: CustomFields,
})
export type Interface = Static<typeof Interface>
